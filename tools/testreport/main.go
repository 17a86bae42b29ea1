// Command testreport reads the output of `go test -json` and prints what a
// reader needs: each package's closing line, the full output of what failed,
// every skipped test with its reason, and one line of totals.
//
// It exits 1 when a test or a build failed, when no test ran at all, and, with
// DONEWHEN_REQUIRE_ALL=1, when a test was skipped: on the build machine
// everything is installed, so a skip there hides something.
//
// With DONEWHEN_BROWSER_AGAIN=1 up to three failed browser tests are run a
// second time, alone, and said by name: a browser on a busy machine can miss a
// moment. Any other failure is final.
package main

import (
	"fmt"
	"os"
	"os/exec"
)

func main() {
	out, err := report(os.Stdin, os.Stdout, os.Getenv("DONEWHEN_REQUIRE_ALL") == "1")
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	if !out.ok && os.Getenv("DONEWHEN_BROWSER_AGAIN") == "1" && len(out.again) > 0 {
		out.ok = again(out.again)
	}
	if !out.ok {
		os.Exit(1)
	}
}

// again runs each test once more, alone, and says what came of it.
func again(tests []testID) bool {
	ok := true
	for _, id := range tests {
		fmt.Printf("\nonce more, alone: %s %s\n", id.pkg, id.test)
		cmd := exec.Command("go", "test", "-buildvcs=false", "-count=1", "-run", "^"+id.test+"$", id.pkg)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Println("FAILED again:", err)
			ok = false
		}
	}
	return ok
}
