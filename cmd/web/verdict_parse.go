package main

import (
	"fmt"

	"donewhen/dod"
)

// VerdictCmd groups the commands about judges' replies.
type VerdictCmd struct {
	Parse VerdictParseCmd `cmd:"" help:"Read a judge's raw reply as strictly as the server does."`
}

// VerdictParseCmd is "web verdict parse FILE": it prints {"met","kind","reason"}
// for a raw reply and exits with 0 only when met.
type VerdictParseCmd struct {
	File string `arg:"" name:"file" help:"File with the raw reply; - is standard input."`
}

// Run carries the command out on the process's own streams.
func (c *VerdictParseCmd) Run() error { return parseVerdict(osStreams(), c.File).asError() }

func parseVerdict(s streams, file string) exitCode {
	raw, err := readInput(s, file)
	if err != nil {
		fmt.Fprintln(s.Err, err)
		return exitBadUsage
	}
	verdict := dod.ParseVerdict(raw)
	if err := printJSON(s.Out, verdict, ""); err != nil {
		fmt.Fprintln(s.Err, "write the verdict:", err)
		return exitNotDone
	}
	if !verdict.Met {
		return exitNotDone
	}
	return exitDone
}
