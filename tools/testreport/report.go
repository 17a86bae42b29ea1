package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is one line of `go test -json` (go doc test2json); build output has
// ImportPath instead of Package.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

type testID struct{ pkg, test string }

// result is what a run of tests came to.
type result struct {
	ok    bool
	again []testID // what failed, when it is only browser tests and few: they may be run once more
	skips int
}

// maxAgain is how many browser tests may be run a second time: more than that
// is no missed moment on a busy machine.
const maxAgain = 3

// browserTest says whether a test drives a browser, by its name.
func browserTest(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return strings.Contains(top, "Browser") || strings.Contains(top, "Gallery") || top == "TestLive" || strings.HasPrefix(top, "TestA8_12")
}

// report copies the readable part of a `go test -json` stream to w. The result is
// ok when tests ran, none failed, and none was skipped if requireAll is set.
// Lines that are not JSON (a compiler's or a crashed tool's) are printed as they are.
func report(r io.Reader, w io.Writer, requireAll bool) (result, error) {
	output := map[testID]*strings.Builder{}
	var skipped []testID
	passed, failed, packages, broken := 0, 0, 0, 0
	failures := map[testID]bool{} // top-level tests that failed
	failedPackages := map[string]bool{}
	exit := "" // what go test itself ended with, when the stream says so

	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			var e event
			if code, said := strings.CutPrefix(line, "go test ended with "); said {
				exit = strings.TrimSpace(code)
			} else if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				fmt.Fprint(w, line)
			}
			id := testID{e.Package, e.Test}
			switch e.Action {
			case "build-output":
				fmt.Fprint(w, e.Output)
			case "output":
				if output[id] == nil {
					output[id] = &strings.Builder{}
				}
				output[id].WriteString(e.Output)
			case "pass", "fail", "skip":
				text := ""
				if b := output[id]; b != nil {
					text = b.String()
				}
				delete(output, id)
				switch {
				case e.Test == "": // the package: its own output ends with the closing line
					packages++
					if e.Action == "fail" {
						broken++
						failedPackages[e.Package] = true
						fmt.Fprint(w, text)
					} else {
						fmt.Fprintln(w, closing(text))
					}
				case e.Action == "pass":
					passed++
				case e.Action == "fail":
					failed++
					top, _, _ := strings.Cut(e.Test, "/")
					failures[testID{e.Package, top}] = true
					fmt.Fprint(w, text)
				case e.Action == "skip":
					skipped = append(skipped, id)
					fmt.Fprint(w, text)
				}
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return result{}, err
		}
	}
	// A package that died (os.Exit, a time limit) leaves its running test open.
	died := 0
	for id, b := range output {
		if id.test != "" {
			died++
			fmt.Fprintf(w, "did not end: %s %s\n%s", id.pkg, id.test, b)
		}
	}

	fmt.Fprintf(w, "\n%d tests in %d packages: %d passed, %d failed, %d skipped\n",
		passed+failed+len(skipped), packages, passed, failed, len(skipped))
	for _, id := range skipped {
		fmt.Fprintf(w, "  skipped: %s %s\n", id.pkg, id.test)
	}
	switch {
	case failed > 0 || broken > 0:
		fmt.Fprintf(w, "FAILED: %d packages\n", broken)
		out := result{skips: len(skipped)}
		for id := range failures {
			if !browserTest(id.test) {
				return out, nil
			}
			delete(failedPackages, id.pkg)
		}
		if len(failures) <= maxAgain && len(failedPackages) == 0 && died == 0 && (!requireAll || len(skipped) == 0) {
			out.again = slices.SortedFunc(maps.Keys(failures), func(a, b testID) int { return strings.Compare(a.pkg+a.test, b.pkg+b.test) })
		}
		return out, nil
	case exit != "" && exit != "0" || died > 0:
		fmt.Fprintf(w, "FAILED: go test ended with %s, and no test says why\n", exit)
		return result{}, nil
	case passed == 0:
		fmt.Fprintln(w, "FAILED: no test ran")
		return result{}, nil
	case requireAll && len(skipped) > 0:
		fmt.Fprintln(w, "FAILED: everything must run here (DONEWHEN_REQUIRE_ALL=1), but tests were skipped")
		return result{}, nil
	}
	return result{ok: true}, nil
}

// closing is the last line of a package's output: "ok  path 0.1s" or
// "?   path [no test files]".
func closing(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}
