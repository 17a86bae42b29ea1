package runner

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"donewhen/engine"
	"donewhen/models"
)

// cliRuntime runs an agent CLI that runtimes.yaml describes.
type cliRuntime struct {
	spec *runtimeSpec
	opts Options
}

// Info says how the program is called and whether it is there now.
func (r *cliRuntime) Info() engine.RuntimeInfo {
	return r.opts.info(r.spec, r.spec.vector(r.spec.Args, r.spec.Model, nil))
}

// info describes a runtime; args is what is shown and looked for.
func (o Options) info(spec *runtimeSpec, args []string) engine.RuntimeInfo {
	info := engine.RuntimeInfo{
		Alias: spec.Alias, Title: spec.Title, Shell: spec.Shell,
		Shown: strings.Join(args, " "),
		Limit: time.Duration(spec.Limit), MaxLimit: time.Duration(spec.MaxLimit),
	}
	if _, err := lookPath(args[0], o.Environ); err != nil {
		info.Unavailable = err.Error()
	} else {
		info.Available = true
	}
	return info
}

// vector is an argument vector with the model's arguments appended and the
// values put in, in one pass: no value is looked through again.
func (s *runtimeSpec) vector(args []string, model string, values map[string]string) []string {
	out := append([]string{}, args...)
	if model != "" {
		out = insertBeforeDash(out, s.ModelArgs)
	}
	pairs := []string{"{model}", model}
	for name, v := range values {
		pairs = append(pairs, name, v)
	}
	r := strings.NewReplacer(pairs...)
	for i := range out[1:] {
		out[i+1] = r.Replace(out[i+1])
	}
	return out
}

// insertBeforeDash appends more, but before a last "-", which for some programs
// stands for stdin in the place of the prompt.
func insertBeforeDash(args, more []string) []string {
	if n := len(args); n > 1 && args[n-1] == "-" {
		return append(append(args[:n-1:n-1], more...), "-")
	}
	return append(args, more...)
}

// Run starts the program with the task text on stdin, as a file or as an
// argument, and reads its stdout as the declared format says.
func (r *cliRuntime) Run(ctx context.Context, job engine.Job) engine.Outcome {
	if ctx.Err() != nil {
		return cancelled()
	}
	if err := cannotBegin(job); err != nil {
		return errored("It was not started: %v.", err)
	}
	if r.spec.Task == taskArg && len(job.Task) > maxArg {
		return errored("It was not started: %v.", tooLong("the task text", len(job.Task),
			`shorten it, or declare the runtime with "task: stdin" or "task: file" in runtimes.yaml`))
	}
	program, err := lookPath(r.spec.Args[0], r.opts.Environ)
	if err != nil {
		return errored("It was not started: %v.", err)
	}
	file, remove, err := writeTask(r.opts.tempDir(), job.RunID, job.Task)
	if err != nil {
		return errored("It was not started: %v.", err)
	}
	defer remove()

	args := r.spec.vector(r.spec.Args, r.spec.Model, map[string]string{"{task_file}": file, "{task}": job.Task})
	args[0] = program
	var stdin io.Reader
	if r.spec.Task == taskStdin {
		stdin = strings.NewReader(job.Task)
	}
	parser := outputFormats[r.spec.Output](job.Activity)
	lines := &lineSplitter{f: parser.line}
	var stdout io.Writer = lines
	split := true
	if r.spec.Output == outputText {
		stdout, split = &activityWriter{report: job.Activity}, false
	}
	e, last := r.opts.job(ctx, r.spec, job, args, stdin, file, stdout, split)
	lines.flush()
	return r.outcome(e, parser.report(), limitOf(r.spec, job.Limit), last)
}

// outcome weighs exit code and report against each other: only both together
// are a success.
func (r *cliRuntime) outcome(e ending, rep report, limit time.Duration, last *tail) engine.Outcome {
	out := outcomeOf(e, limit, last.text(reasonSize))
	out.FinalMessage = rep.Message
	out.InputTokens, out.OutputTokens, out.CostUSD = rep.InputTokens, rep.OutputTokens, rep.CostUSD
	if r.spec.Output == outputText {
		out.FinalMessage = last.text(messageSize)
	}
	if e.Cause != causeExit {
		return out
	}
	switch {
	case rep.GaveUp != "":
		out.Status, out.Reason = models.RunFailed, "The agent did not finish: "+clip(rep.GaveUp, reasonSize)
	case rep.Trouble != "":
		// Also with exit code 0: the text of an API error is no work to be judged.
		out.Status, out.Reason = models.RunErrored, clip(rep.Trouble, reasonSize)
	case e.Signal == 0 && (e.Exit == 126 || e.Exit == 127) && (!rep.Ended || r.spec.Output == outputText):
		// A wrapper script whose interpreter is missing: nothing of the task was tried.
		out.Status, out.Reason = models.RunErrored, withTail(fmt.Sprintf("It could not run (exit code %d)", e.Exit), last.text(reasonSize))
	case e.Exit == 0 && r.spec.Output != outputText && !rep.Ended:
		out.Status = models.RunErrored
		out.Reason = withTail(fmt.Sprintf("Exit code 0, but its output has no result in the form %s", r.spec.Output), last.text(reasonSize))
	}
	return out
}
