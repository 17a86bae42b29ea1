package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"donewhen/engine"
	"donewhen/models"
)

func (o Options) withDefaults() Options {
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	return o
}

// tempDir is where task files and judges' folders go.
func (o Options) tempDir() string {
	if o.TempDir != "" {
		return o.TempDir
	}
	return filepath.Join(os.TempDir(), "donewhen")
}

// jobEnv is the environment of one run.
func (o Options) jobEnv(spec *runtimeSpec, job engine.Job, taskFile string) []string {
	own := append(runTags(job.RunID, o.Instance), envPlanID+"="+job.PlanID, envTaskFile+"="+taskFile)
	return environment{home: job.Home, who: "agent", allow: spec.Env, set: spec.Set, more: job.Env, own: own}.build(o.Environ)
}

// cannotBegin says why a job cannot be carried out at all, before anything is
// started; nil when it can.
func cannotBegin(job engine.Job) error {
	for what, dir := range map[string]string{"workspace": job.Dir, "home": job.Home} {
		info, err := os.Lstat(dir)
		if err != nil {
			return fmt.Errorf("its %s %s is not there (%w)", what, dir, pathCause(err))
		}
		if !info.IsDir() {
			return fmt.Errorf("its %s %s is no folder", what, dir)
		}
	}
	if job.Output == nil {
		return errors.New("there is nowhere to record its output")
	}
	return nil
}

// job runs a job's process and returns its ending and the end of its output.
// stdout gets standard output beside job.Output; split keeps standard error in a
// pipe of its own, so that it cannot get between the parts of a long line.
func (o Options) job(ctx context.Context, spec *runtimeSpec, job engine.Job, args []string, stdin io.Reader, taskFile string, stdout io.Writer, split bool) (ending, *tail) {
	last := newTail(tailSize)
	all := &lockedWriter{w: tee{job.Output, last}}
	p := process{
		Args: args, Dir: job.Dir, Env: o.jobEnv(spec, job, taskFile),
		Stdin: stdin, Stdout: tee{all, stdout},
		Limit: limitOf(spec, job.Limit), Grace: o.Grace, Started: job.Started,
	}
	if split {
		p.Stderr = all
	}
	return p.run(ctx), last
}

// cancelled is the outcome of a job whose context ended before its start.
func cancelled() engine.Outcome {
	return engine.Outcome{Status: models.RunCancelled, Reason: "Cancelled before it was started."}
}
