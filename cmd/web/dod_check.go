package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/engine/runner"
)

// DodCmd groups the commands about definitions of done.
type DodCmd struct {
	Check  DodCheckCmd  `cmd:"" help:"Evaluate a definition of done against evidence files."`
	Render DodRenderCmd `cmd:"" help:"Print a definition of done with its placeholders filled in."`
}

// DodCheckCmd is "web dod check FILE …": the dashboard's evaluation for other
// people's CI. It exits with 0 only when all required criteria pass, with 1 when
// not, and with 2 when nothing was evaluated.
type DodCheckCmd struct {
	File      string        `arg:"" name:"file" help:"Definition of done; - is standard input."`
	Evidence  []string      `name:"evidence" sep:"none" placeholder:"FILE" help:"File to look into; its key is its name. May be given many times."`
	Arg       []string      `name:"arg" sep:"none" placeholder:"NAME=VALUE" help:"Value for {NAME}; may be given many times."`
	Workspace string        `name:"workspace" placeholder:"DIR" help:"Folder for run: and file: checks; without it they are skipped."`
	JSON      bool          `name:"json" help:"Print criteria, results and validation summary as JSON."`
	RunLimit  time.Duration `name:"run-limit" default:"10m" help:"Time limit of each run: check."`
}

// Run carries the command out on the process's own streams, until it ends or the
// process is told to stop.
func (c *DodCheckCmd) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return checkDod(ctx, osStreams(), *c, bashCheck(c.RunLimit), time.Now).asError()
}

// runCheckFunc carries out one run: check: command in dir, with env beside the
// environment that every check gets.
type runCheckFunc func(ctx context.Context, dir, command string, env []string) dod.CheckOutcome

// bashCheck carries run: checks out as the server does, with a HOME of their own.
func bashCheck(limit time.Duration) runCheckFunc {
	check := runner.NewCheckRunner(runner.Options{})
	return func(ctx context.Context, dir, command string, env []string) dod.CheckOutcome {
		return check(ctx, engine.CheckJob{Dir: dir, Command: command, Env: env, Limit: limit})
	}
}

// checkReport is the printed form of --json.
type checkReport struct {
	Criteria          []dod.Criterion `json:"criteria"`
	Results           []checkResult   `json:"results"`
	ValidationSummary map[string]any  `json:"validation_summary"`
}

type checkResult struct {
	Index     int        `json:"index"`
	Status    dod.Status `json:"status"`
	Reasoning string     `json:"reasoning"`
}

func checkDod(ctx context.Context, s streams, c DodCheckCmd, run runCheckFunc, now func() time.Time) exitCode {
	badUsage := func(err error) exitCode {
		fmt.Fprintln(s.Err, err)
		return exitBadUsage
	}
	args, err := parseArgs(c.Arg)
	if err != nil {
		return badUsage(err)
	}
	text, err := readInput(s, c.File)
	if err != nil {
		return badUsage(err)
	}
	usable := true
	for _, w := range dod.Parse(text).Warnings {
		if w.Refused {
			fmt.Fprintf(s.Err, "%s:%d: %s\n", c.File, w.Line, w.Message)
			usable = usable && w.Fails
		}
	}
	if !usable {
		return exitBadUsage
	}
	raw, err := readEvidence(c.Evidence)
	if err != nil {
		return badUsage(err)
	}
	// As in the dashboard: what people read decides what is there, all of it what
	// must be absent.
	evidence := make(map[string]string, len(raw))
	for key, value := range raw {
		evidence[key] = dod.Printed(dod.FromUTF16(value))
	}
	suite := dod.Suite{Args: args, Text: dod.TextMatch{Whole: raw}}
	if c.Workspace != "" {
		if info, err := os.Stat(c.Workspace); err != nil || !info.IsDir() {
			return badUsage(fmt.Errorf("--workspace: %s is no folder", c.Workspace))
		}
		env := dod.ArgEnv(args)
		suite.File = func(_ context.Context, path string) dod.CheckOutcome { return engine.FileCheck(c.Workspace, path) }
		suite.Run = func(ctx context.Context, command string) dod.CheckOutcome {
			return run(ctx, c.Workspace, command, env)
		}
	}
	criteria := dod.FillCriteria(dod.ParseCriteria(text), args)
	if why := engine.UnknownRole(criteria); why != "" {
		fmt.Fprintf(s.Err, "%s: %s\n", c.File, why)
	}
	outcome := suite.Evaluate(ctx, criteria, evidence)
	summary := dod.Summary{DefinitionOfDone: dod.RenderTemplate(text, args), Results: outcome.Results}
	if ctx.Err() == nil {
		summary.EvaluatedAt = now().UTC() // only a complete evaluation has a time
	}
	if err := printSummary(s, c.JSON, criteria, summary); err != nil {
		fmt.Fprintln(s.Err, "write the results:", err)
		return exitNotDone
	}
	if !summary.AllPassed() {
		return exitNotDone
	}
	return exitDone
}

func printSummary(s streams, asJSON bool, criteria []dod.Criterion, summary dod.Summary) error {
	if !asJSON {
		return printJSON(s.Out, summary.ToCLIDict(), "  ")
	}
	report := checkReport{Criteria: criteria, Results: []checkResult{}, ValidationSummary: summary.ToValidationSummary()}
	for _, r := range summary.Results {
		report.Results = append(report.Results, checkResult{Index: r.Criterion.Index, Status: r.Status, Reasoning: r.Reasoning})
	}
	return printJSON(s.Out, report, "")
}

// readEvidence reads the files by name. Of two with the same name the later is
// known by its path as given, so that none hides another.
func readEvidence(files []string) (map[string]string, error) {
	evidence := make(map[string]string, len(files))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--evidence: %w", err)
		}
		key := filepath.Base(file)
		if _, taken := evidence[key]; taken {
			key = file
		}
		if _, taken := evidence[key]; taken {
			return nil, fmt.Errorf("--evidence %s is given twice", file)
		}
		evidence[key] = string(data)
	}
	return evidence, nil
}
