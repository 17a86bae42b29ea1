// Command web is donewhen: the server, and small commands for operators and
// for other people's CI.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

type cli struct {
	Serve   ServeCmd   `cmd:"" default:"1" help:"Start the dashboard (this is what happens without a command)."`
	Dod     DodCmd     `cmd:"" help:"Evaluate or render a definition of done."`
	Verdict VerdictCmd `cmd:"" help:"Read a judge's raw reply as donewhen would."`
	User    UserCmd    `cmd:"" help:"Help people who are locked out."`
}

func main() {
	var c cli
	parser := kong.Must(&c, kong.Name("web"),
		kong.Description("donewhen: plans that iterate until they are done. Settings come from DONEWHEN_* variables; see README.md."),
		kong.UsageOnError())
	ctx, err := parser.Parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(int(exitBadUsage))
	}
	err = ctx.Run()
	if err == nil {
		return
	}
	if code, ok := errors.AsType[exitCode](err); ok {
		os.Exit(int(code))
	}
	fmt.Fprintln(os.Stderr, "donewhen:", err)
	os.Exit(1)
}

// ServeCmd starts the dashboard.
type ServeCmd struct{}

// Run serves until the process is told to stop, then ends agents and streams
// and returns.
func (ServeCmd) Run() error {
	cfg, err := readConfig()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	app, err := NewApp(ctx, cfg, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	defer app.Close()
	app.Announce(ctx, os.Stdout)
	return app.Run(ctx)
}
