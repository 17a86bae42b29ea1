package runner

import (
	"context"
	"strings"

	"donewhen/engine"
)

// shellRuntime runs a phase's command with bash. pipefail is on, so that a
// failing command before a pipe cannot look like success.
type shellRuntime struct {
	spec *runtimeSpec
	opts Options
}

var bash = []string{"bash", "-o", "pipefail", "-c"}

// Info names the shell and its flags, so that a run's page can show them.
func (r *shellRuntime) Info() engine.RuntimeInfo {
	return r.opts.info(r.spec, bash)
}

// Run carries out job.Agent.Command. The task text is no program text: the
// command finds it in the file $DONEWHEN_TASK_FILE; stdin is closed. The final
// message is what was printed last.
func (r *shellRuntime) Run(ctx context.Context, job engine.Job) engine.Outcome {
	if ctx.Err() != nil {
		return cancelled()
	}
	if strings.TrimSpace(job.Agent.Command) == "" {
		return errored("The phase has no command for the shell; edit the phase and write one.")
	}
	if size := len(job.Agent.Command); size > maxArg {
		return errored("It was not started: %v.", tooLong("the command", size, "put it into a script in the repository and call that"))
	}
	if err := cannotBegin(job); err != nil {
		return errored("It was not started: %v.", err)
	}
	args, err := shellArgs(job.Agent.Command, r.opts.Environ)
	if err != nil {
		return errored("It was not started: %v.", err)
	}
	file, remove, err := writeTask(r.opts.tempDir(), job.RunID, job.Task)
	if err != nil {
		return errored("It was not started: %v.", err)
	}
	defer remove()
	doing := &activityWriter{report: job.Activity}
	e, last := r.opts.job(ctx, r.spec, job, args, nil, file, doing, false)
	out := outcomeOf(e, limitOf(r.spec, job.Limit), last.text(reasonSize))
	out.FinalMessage = last.text(messageSize)
	return out
}

// shellArgs is the argument vector of a command for bash.
func shellArgs(command string, environ []string) ([]string, error) {
	program, err := lookPath(bash[0], environ)
	if err != nil {
		return nil, err
	}
	return append(append([]string{program}, bash[1:]...), command), nil
}
