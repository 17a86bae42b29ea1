package runner

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"donewhen/dod"
	"donewhen/engine"
)

// checkTail bounds the output in a check's reasoning.
const checkTail = 4 << 10

// CheckRunner returns what carries out `run:` checks, with the environment and
// limit that the file's checks part declares.
func (s *Set) CheckRunner() engine.CheckRunner {
	return checkRunner{spec: s.checks, opts: s.opts}.run
}

// NewCheckRunner is Set.CheckRunner for the built-in runtimes.yaml.
func NewCheckRunner(opts Options) engine.CheckRunner {
	set, err := Open("", opts)
	if err != nil {
		panic("runner: the embedded runtimes.yaml is broken: " + err.Error()) // a test loads it
	}
	return set.CheckRunner()
}

type checkRunner struct {
	spec checkSpec
	opts Options
}

// run carries out one check with bash and pipefail in job.Dir. Exit code 0 is
// passed; any other, a signal and the time limit are failed, with the end of the
// output; what could not be started or was cancelled is skipped.
func (c checkRunner) run(ctx context.Context, job engine.CheckJob) dod.CheckOutcome {
	if info, err := os.Lstat(job.Dir); err != nil || !info.IsDir() {
		return skipped("there is no workspace at %s", job.Dir)
	}
	if size := len(job.Command); size > maxArg {
		return skipped("it could not be started: %v", tooLong("the command", size, "put it into a script in the repository and call that"))
	}
	args, err := shellArgs(job.Command, c.opts.Environ)
	if err != nil {
		return skipped("it could not be started: %v", err)
	}
	home := job.Home
	if home == "" {
		if home, err = os.MkdirTemp("", "donewhen-check-"); err != nil {
			return skipped("it could not be started: no home folder: %v", err)
		}
		defer os.RemoveAll(home)
	} else if err := os.MkdirAll(home, 0o700); err != nil {
		return skipped("it could not be started: no home folder: %v", err)
	}
	limit := job.Limit
	if limit <= 0 {
		limit = time.Duration(c.spec.Limit)
	}
	last := newTail(tailSize)
	var all io.Writer = last
	if job.Output != nil {
		all = tee{last, job.Output}
	}
	own := []string{envInstance + "=" + c.opts.Instance}
	e := process{
		Args: args, Dir: job.Dir, Stdout: all, Limit: limit, Grace: c.opts.Grace,
		Env: environment{home: home, who: "check", allow: c.spec.Env, set: c.spec.Set, more: job.Env, own: own}.build(c.opts.Environ),
	}.run(ctx)
	atLimit := fmt.Sprintf("stopped at its time limit of %s", limit)
	if job.AtLimit != "" {
		atLimit += " (" + job.AtLimit + ")"
	}
	return checkOutcome(e, atLimit, last.text(checkTail))
}

func checkOutcome(e ending, atLimit, last string) dod.CheckOutcome {
	failed := func(sentence string) dod.CheckOutcome {
		return dod.CheckOutcome{Status: dod.Failed, Reasoning: withTail(sentence, last)}
	}
	switch {
	case e.Cause == causeStart:
		return skipped("it could not be started: %v", e.Err)
	case e.Cause == causeCancel:
		return skipped("it was stopped before it came to a result")
	case e.Cause == causeLimit:
		return failed(atLimit)
	case e.Signal != 0:
		return failed(fmt.Sprintf("ended by signal %d (%s)", int(e.Signal), e.Signal))
	case e.Exit != 0:
		return failed(fmt.Sprintf("exit code %d", e.Exit))
	case e.Left > 0:
		return skipped("exit code 0, but %d of its processes could not be ended; see to them on the server", e.Left)
	}
	return dod.CheckOutcome{Status: dod.Passed, Reasoning: "exit code 0"}
}

func skipped(format string, args ...any) dod.CheckOutcome {
	return dod.CheckOutcome{Status: dod.Skipped, Reasoning: fmt.Sprintf(format, args...)}
}
