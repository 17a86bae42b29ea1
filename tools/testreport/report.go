package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
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

// report copies the readable part of a `go test -json` stream to w. It returns
// true when tests ran, none failed, and none was skipped if requireAll is set.
// Lines that are not JSON (a compiler's or a crashed tool's) are printed as they are.
func report(r io.Reader, w io.Writer, requireAll bool) (bool, error) {
	output := map[testID]*strings.Builder{}
	var skipped []testID
	passed, failed, packages, broken := 0, 0, 0, 0

	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
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
						fmt.Fprint(w, text)
					} else {
						fmt.Fprintln(w, closing(text))
					}
				case e.Action == "pass":
					passed++
				case e.Action == "fail":
					failed++
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
			return false, err
		}
	}
	// A package that died (os.Exit, a time limit) leaves its running test open.
	for id, b := range output {
		if id.test != "" {
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
		return false, nil
	case passed == 0:
		fmt.Fprintln(w, "FAILED: no test ran")
		return false, nil
	case requireAll && len(skipped) > 0:
		fmt.Fprintln(w, "FAILED: everything must run here (DONEWHEN_REQUIRE_ALL=1), but tests were skipped")
		return false, nil
	}
	return true, nil
}

// closing is the last line of a package's output: "ok  path 0.1s" or
// "?   path [no test files]".
func closing(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}
