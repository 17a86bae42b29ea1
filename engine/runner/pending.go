package runner

import (
	"context"
	"errors"
	"os"

	"donewhen/dod"
	"donewhen/engine"
)

const (
	taskStdin  = "stdin"
	taskFile   = "file"
	taskArg    = "arg"
	outputText = "text"
)

var outputFormats = map[string]func(){"text": nil, "claude-stream-json": nil, "codex-json": nil, "opencode-json": nil, "gemini-stream-json": nil}

func (o Options) withDefaults() Options {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	return o
}

type shellRuntime struct {
	spec *runtimeSpec
	opts Options
}

func (r *shellRuntime) Run(ctx context.Context, job engine.Job) engine.Outcome { panic("pending") }
func (r *shellRuntime) Info() engine.RuntimeInfo                               { panic("pending") }

type cliRuntime struct {
	spec *runtimeSpec
	opts Options
}

func (r *cliRuntime) Run(ctx context.Context, job engine.Job) engine.Outcome { panic("pending") }
func (r *cliRuntime) Info() engine.RuntimeInfo                               { panic("pending") }

// CLIJudge asks an agent CLI.
type CLIJudge struct{}

func newCLIJudge(spec *runtimeSpec, opts Options, file string) (dod.Asker, error) {
	return nil, errors.New("pending")
}

// CheckRunner returns what carries out `run:` checks.
func (s *Set) CheckRunner() engine.CheckRunner { return NewCheckRunner(s.opts) }

// NewCheckRunner is Set.CheckRunner without a runtimes.yaml.
func NewCheckRunner(opts Options) engine.CheckRunner {
	return func(ctx context.Context, job engine.CheckJob) dod.CheckOutcome { panic("pending") }
}

// Reap is an engine.Reaper.
func (s *Set) Reap(ctx context.Context, left []engine.Leftover) (int, error) {
	return 0, errors.New("pending")
}
