package runner

import (
	"fmt"
	"time"

	"donewhen/dod"
	"donewhen/engine"
)

// Options are the server's own values, apart from what the operator declares.
// The zero value is fit for use.
type Options struct {
	// Grace is the time between TERM and KILL; 0 = DefaultGrace.
	Grace time.Duration
	// TempDir takes task files and judges' folders; "" = os.TempDir(). When it is
	// given it belongs to the server alone, and Reap clears it of what a crash left.
	TempDir string
	// Instance tells this server's processes from those of another server on the
	// same machine, whose run ids are the same small numbers: the absolute path of
	// its data folder. It is put into every process's environment.
	Instance string
	// Environ is the environment that PATH and allow-listed names come from, as
	// NAME=VALUE; nil = os.Environ().
	Environ []string
}

// DefaultGrace is how long a process may take to end after TERM.
const DefaultGrace = 5 * time.Second

// Set is what runtimes.yaml declares: runtimes, judges and the environment of
// checks.
type Set struct {
	opts     Options
	file     string // where it came from, for messages
	checks   checkSpec
	runtimes []*runtimeSpec // in the file's order
}

// Open reads the operator's runtimes.yaml; path "" means the embedded default.
// Errors name the file, the line and what to write instead.
func Open(path string, opts Options) (*Set, error) {
	specs, checks, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	return &Set{opts: opts.withDefaults(), file: nameOf(path), checks: checks, runtimes: specs}, nil
}

// Load reads the operator's runtimes.yaml and returns its runtimes; path ""
// means the embedded default.
func Load(path string) ([]engine.Runtime, error) {
	set, err := Open(path, Options{})
	if err != nil {
		return nil, err
	}
	return set.Runtimes(), nil
}

// Default returns the runtimes of the embedded runtimes.yaml: the shell, and
// the presets for agent CLIs, unavailable where their program is not on PATH.
func Default() []engine.Runtime {
	rts, err := Load("")
	if err != nil {
		panic("runner: the embedded runtimes.yaml is broken: " + err.Error()) // a test loads it
	}
	return rts
}

// Runtimes returns the runtimes that can carry out phases, in the file's order.
// An entry with judge_args alone is a judge and not among them.
func (s *Set) Runtimes() []engine.Runtime {
	var out []engine.Runtime
	for _, spec := range s.runtimes {
		switch {
		case spec.Shell:
			out = append(out, &shellRuntime{spec: spec, opts: s.opts})
		case len(spec.Args) > 0:
			out = append(out, &cliRuntime{spec: spec, opts: s.opts})
		}
	}
	return out
}

// Judge returns the asker of the model spec "runtime:<alias>". The error says
// what to change in runtimes.yaml when that runtime cannot judge.
func (s *Set) Judge(alias string) (dod.Asker, error) {
	var known []string
	for _, spec := range s.runtimes {
		if spec.Alias == alias {
			return newCLIJudge(spec, s.opts, s.file)
		}
		known = append(known, spec.Alias)
	}
	return nil, fmt.Errorf("%s has no runtime %q; it has %s", s.file, alias, list(known))
}
