package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"donewhen/dod"
)

// maxReply bounds what a judge may print.
const maxReply = 1 << 20

// CLIJudge asks an agent CLI: the model spec runtime:<alias>. Each question is a
// fresh process in an empty folder of its own, started with the runtime's
// judge_args (no tools, no project instructions) and its own time limit, with
// the question on stdin. It implements dod.Asker and may be used by several
// goroutines at once.
type CLIJudge struct {
	spec *runtimeSpec
	opts Options
}

var _ dod.Asker = (*CLIJudge)(nil)

// newCLIJudge makes the judge of a runtime, or says what to change in file.
func newCLIJudge(spec *runtimeSpec, opts Options, file string) (*CLIJudge, error) {
	switch {
	case spec.Shell:
		return nil, fmt.Errorf("runtime %q is a shell and cannot judge; choose a runtime that has judge_args, or the model text", spec.Alias)
	case len(spec.JudgeArgs) == 0:
		return nil, fmt.Errorf("runtime %q has no judge_args and cannot judge; add judge_args to it in %s: a program that reads the question on stdin, uses no tools and prints the reply", spec.Alias, file)
	}
	return &CLIJudge{spec: spec, opts: opts}, nil
}

// Evaluator is the model spec, as in "runtime:claude".
func (j *CLIJudge) Evaluator() string { return "runtime:" + j.spec.Alias }

// Ask puts the question and returns the reply word for word: the final message
// of a format that has one, otherwise all of stdout. Whatever makes it unsure
// that this is the whole reply is an error: no start, time limit, exit code,
// is_error, a refusal, a reply that was cut off; a used-up limit is a
// *dod.QuotaError. Reply.Raw then has what was
// printed. Empty output with exit code 0 is an empty reply and no error.
func (j *CLIJudge) Ask(ctx context.Context, q dod.Question) (dod.Reply, error) {
	program, err := lookPath(j.spec.JudgeArgs[0], j.opts.Environ)
	if err != nil {
		return dod.Reply{}, fmt.Errorf("the judge was not started: %w", err)
	}
	work, home, remove, err := j.folders()
	if err != nil {
		return dod.Reply{}, fmt.Errorf("the judge was not started: %w", err)
	}
	defer remove()

	args := j.spec.vector(j.spec.JudgeArgs, j.spec.JudgeModel, map[string]string{"{system}": q.System})
	args[0] = program
	prompt := q.Prompt
	if !slices.ContainsFunc(j.spec.JudgeArgs, func(a string) bool { return strings.Contains(a, "{system}") }) && q.System != "" {
		prompt = q.System + "\n\n" + q.Prompt
	}
	parser := outputFormats[j.spec.JudgeOutput](nil)
	lines := &lineSplitter{f: parser.line}
	stdout, stderr := &capped{max: maxReply}, newTail(tailSize)
	own := []string{envInstance + "=" + j.opts.Instance}
	e := process{
		Args: args, Dir: work, Stdin: strings.NewReader(prompt),
		Env:    environment{home: home, who: "judge", allow: j.spec.Env, set: merged(j.spec.Set, j.spec.JudgeSet), own: own}.build(j.opts.Environ),
		Stdout: tee{stdout, lines}, Stderr: stderr,
		Limit: time.Duration(j.spec.JudgeLimit), Grace: j.opts.Grace,
	}.run(ctx)
	lines.flush()

	rep := parser.report()
	reply := dod.Reply{
		Raw: string(stdout.buf), Model: rep.Model,
		InputTokens: rep.InputTokens, OutputTokens: rep.OutputTokens, CostUSD: rep.CostUSD,
	}
	if reply.Model == "" {
		reply.Model = j.spec.JudgeModel
	}
	if err := j.fault(ctx, e, rep, stdout, stderr); err != nil {
		said := rep.Trouble
		if said == "" && e.Exit != 0 {
			said = stderr.text(reasonSize)
		}
		return reply, quotaOf(err, said, time.Now())
	}
	if j.spec.JudgeOutput != outputText {
		reply.Raw = rep.Message
	}
	return reply, nil
}

// merged is a map with all of a and b; b wins.
func merged(a, b map[string]string) map[string]string {
	all := make(map[string]string, len(a)+len(b))
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

// wholeReply are the stop reasons after which nothing is missing.
var wholeReply = []string{"", "end_turn", "stop", "stop_sequence"}

// fault says why what came back is no whole reply, nil when it is one.
func (j *CLIJudge) fault(ctx context.Context, e ending, rep report, stdout *capped, stderr *tail) error {
	last := stderr.text(reasonSize)
	if last == "" {
		last = lastLines(strings.ToValidUTF8(string(stdout.buf), "\uFFFD"), reasonSize)
	}
	switch {
	case e.Cause == causeStart:
		return fmt.Errorf("the judge could not be started: %w", e.Err)
	case e.Cause == causeCancel:
		return fmt.Errorf("the judge was stopped: %w", context.Cause(ctx))
	case e.Cause == causeLimit:
		return errors.New(withTail(fmt.Sprintf("no reply within %s", time.Duration(j.spec.JudgeLimit)), last))
	case rep.Trouble != "":
		return errors.New(clip(rep.Trouble, reasonSize))
	case rep.GaveUp != "":
		return errors.New(clip(rep.GaveUp, reasonSize))
	case e.Signal != 0:
		return errors.New(withTail(fmt.Sprintf("the judge was ended by signal %d (%s)", int(e.Signal), e.Signal), last))
	case e.Exit != 0:
		return errors.New(withTail(fmt.Sprintf("the judge ended with exit code %d", e.Exit), last))
	case e.Err != nil:
		return e.Err
	case stdout.over:
		return fmt.Errorf("the judge printed more than %d KB", maxReply>>10)
	case j.spec.JudgeOutput != outputText && !rep.Ended:
		return errors.New(withTail("the judge's output has no result in the form "+j.spec.JudgeOutput, last))
	case !slices.Contains(wholeReply, rep.StopReason):
		return fmt.Errorf("the reply is not whole: the model stopped with %q", clip(rep.StopReason, 100))
	}
	return nil
}

// folders makes an empty folder to work in and a home beside it.
func (j *CLIJudge) folders() (work, home string, remove func(), err error) {
	if err := os.MkdirAll(j.opts.tempDir(), 0o700); err != nil {
		return "", "", nil, err
	}
	dir, err := os.MkdirTemp(j.opts.tempDir(), judgeFolder)
	if err != nil {
		return "", "", nil, err
	}
	work, home = filepath.Join(dir, "work"), filepath.Join(dir, "home")
	if err := errors.Join(os.Mkdir(work, 0o700), os.Mkdir(home, 0o700)); err != nil {
		os.RemoveAll(dir)
		return "", "", nil, err
	}
	return work, home, func() { os.RemoveAll(dir) }, nil
}

// judgeFolder is the begin of the names of judges' temporary folders.
const judgeFolder = "judge-"

// capped keeps the first max bytes and remembers that there were more.
type capped struct {
	max  int
	buf  []byte
	over bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.max - len(c.buf)
	if len(p) > room {
		c.over = true
	}
	c.buf = append(c.buf, p[:min(len(p), room)]...)
	return len(p), nil
}
