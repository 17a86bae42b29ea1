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
	}{
		{"all passed", stream, true, true, []string{"ok  \tp\t0.1s", "[no test files]", "1 tests in 2 packages: 1 passed, 0 failed, 0 skipped"}},
		{"a skip is told", stream + skip, false, true, []string{"no browser", "1 skipped", "skipped: p TestS"}},
		{"a skip fails where all must run", stream + skip, true, false, []string{"FAILED: everything must run"}},
		{"a failed test", stream + `{"Action":"output","Package":"r","Test":"TestF","Output":"f_test.go:3: boom\n"}
{"Action":"fail","Package":"r","Test":"TestF"}
{"Action":"output","Package":"r","Output":"FAIL\tr\t0.1s\n"}
{"Action":"fail","Package":"r"}
`, false, false, []string{"boom", "FAIL\tr", "FAILED: 1 packages"}},
		{"a build that failed", stream + `{"ImportPath":"r","Action":"build-output","Output":"r.go:1: undefined: x\n"}
{"ImportPath":"r","Action":"build-fail"}
{"Action":"output","Package":"r","Output":"FAIL\tr [build failed]\n"}
{"Action":"fail","Package":"r","FailedBuild":"r"}
`, false, false, []string{"undefined: x", "[build failed]", "FAILED"}},
		{"a package that died", stream + `{"Action":"output","Package":"r","Test":"TestD","Output":"last words\n"}
{"Action":"output","Package":"r","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"r"}
`, false, false, []string{"last words", "timed out"}},
		{"nothing ran", `{"Action":"output","Package":"q","Output":"?   \tq\t[no test files]\n"}
{"Action":"skip","Package":"q"}
`, false, false, []string{"FAILED: no test ran"}},
		{"go itself failed", "go: cannot find main module\n", false, false, []string{"cannot find main module", "no test ran"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out strings.Builder
			ok, err := report(strings.NewReader(tc.in), &out, tc.requireAll)
			if err != nil || ok != tc.ok {
				t.Errorf("ok %v, error %v, want %v:\n%s", ok, err, tc.ok, out.String())
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
