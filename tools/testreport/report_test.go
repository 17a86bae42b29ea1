package main

import (
	"strings"
	"testing"
)

const stream = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"noise of a passed test\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
{"Action":"output","Package":"q","Output":"?   \tq\t[no test files]\n"}
{"Action":"skip","Package":"q"}
`

const skip = `{"Action":"output","Package":"p","Test":"TestS","Output":"    s_test.go:1: no browser\n"}
{"Action":"skip","Package":"p","Test":"TestS"}
`

func TestReport(t *testing.T) {
	for _, tc := range []struct {
		name, in   string
		requireAll bool
		ok         bool
		want       []string
		again      int
	}{
		{"all passed", stream, true, true, []string{"ok  \tp\t0.1s", "[no test files]", "1 tests in 2 packages: 1 passed, 0 failed, 0 skipped"}, 0},
		{"a skip is told", stream + skip, false, true, []string{"no browser", "1 skipped", "skipped: p TestS"}, 0},
		{"a skip fails where all must run", stream + skip, true, false, []string{"FAILED: everything must run"}, 0},
		{"a failed test", stream + `{"Action":"output","Package":"r","Test":"TestF","Output":"f_test.go:3: boom\n"}
{"Action":"fail","Package":"r","Test":"TestF"}
{"Action":"output","Package":"r","Output":"FAIL\tr\t0.1s\n"}
{"Action":"fail","Package":"r"}
`, false, false, []string{"boom", "FAIL\tr", "FAILED: 1 packages"}, 0},
		{"a build that failed", stream + `{"ImportPath":"r","Action":"build-output","Output":"r.go:1: undefined: x\n"}
{"ImportPath":"r","Action":"build-fail"}
{"Action":"output","Package":"r","Output":"FAIL\tr [build failed]\n"}
{"Action":"fail","Package":"r","FailedBuild":"r"}
`, false, false, []string{"undefined: x", "[build failed]", "FAILED"}, 0},
		{"a package that died", stream + `{"Action":"output","Package":"r","Test":"TestD","Output":"last words\n"}
{"Action":"output","Package":"r","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"r"}
`, false, false, []string{"last words", "timed out"}, 0},
		{"nothing ran", `{"Action":"output","Package":"q","Output":"?   \tq\t[no test files]\n"}
{"Action":"skip","Package":"q"}
`, false, false, []string{"FAILED: no test ran"}, 0},
		{"go itself failed", "go: cannot find main module\n", false, false, []string{"cannot find main module", "no test ran"}, 0},
		{"a browser test failed", stream + `{"Action":"fail","Package":"r","Test":"TestXInABrowser/sub"}
{"Action":"fail","Package":"r","Test":"TestXInABrowser"}
{"Action":"fail","Package":"r"}
`, false, false, []string{"FAILED: 1 packages"}, 1},
		{"a browser test and another", stream + `{"Action":"fail","Package":"r","Test":"TestXInABrowser"}
{"Action":"fail","Package":"r","Test":"TestF"}
{"Action":"fail","Package":"r"}
`, false, false, []string{"FAILED: 1 packages"}, 0},
		{"a browser test and a broken package", stream + `{"Action":"fail","Package":"r","Test":"TestXInABrowser"}
{"Action":"fail","Package":"r"}
{"Action":"fail","Package":"s"}
`, false, false, []string{"FAILED: 2 packages"}, 0},
		{"go test was killed", stream + "go test ended with 137\n", false, false, []string{"ended with 137"}, 0},
		{"go test said 0", stream + "go test ended with 0\n", false, true, []string{"1 passed"}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			ok, err := report(strings.NewReader(tc.in), &out, tc.requireAll)
			if err != nil || ok.ok != tc.ok || len(ok.again) != tc.again {
				t.Errorf("%+v, error %v, want %v and %d again:\n%s", ok, err, tc.ok, tc.again, out.String())
			}
			for _, want := range tc.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in:\n%s", want, out.String())
				}
			}
			if strings.Contains(out.String(), "noise") {
				t.Error("the output of passed tests is printed")
			}
		})
	}
}
