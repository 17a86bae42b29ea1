package main

import (
	"fmt"
	"io"

	"donewhen/dod"
)

// DodRenderCmd is "web dod render FILE [--arg NAME=VALUE]…": it prints the text
// with its placeholders filled in.
type DodRenderCmd struct {
	File string   `arg:"" name:"file" help:"Definition of done to render; - is standard input."`
	Arg  []string `name:"arg" sep:"none" placeholder:"NAME=VALUE" help:"Value for {NAME}; may be given many times."`
}

// Run carries the command out on the process's own streams.
func (c *DodRenderCmd) Run() error { return renderDod(osStreams(), c.File, c.Arg).asError() }

func renderDod(s streams, file string, pairs []string) exitCode {
	args, err := parseArgs(pairs)
	if err != nil {
		fmt.Fprintln(s.Err, err)
		return exitBadUsage
	}
	text, err := readInput(s, file)
	if err != nil {
		fmt.Fprintln(s.Err, err)
		return exitBadUsage
	}
	if _, err := io.WriteString(s.Out, dod.RenderTemplate(text, args)); err != nil {
		fmt.Fprintln(s.Err, "write the rendered text:", err)
		return exitNotDone
	}
	return exitDone
}
