// Command testreport reads the output of `go test -json` and prints what a
// reader needs: each package's closing line, the full output of what failed,
// every skipped test with its reason, and one line of totals.
//
// It exits 1 when a test or a build failed, when no test ran at all, and, with
// DONEWHEN_REQUIRE_ALL=1, when a test was skipped: on the build machine
// everything is installed, so a skip there hides something.
package main

import (
	"fmt"
	"os"
)

func main() {
	ok, err := report(os.Stdin, os.Stdout, os.Getenv("DONEWHEN_REQUIRE_ALL") == "1")
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	if !ok {
		os.Exit(1)
	}
}
