package engine

import (
	"context"
	"io"
	"time"

	"donewhen/dod"
	"donewhen/models"
)

// Job is one run handed to a runtime. Everything in it is a value: a runtime
// knows neither rows nor plans.
type Job struct {
	RunID     int64
	PlanID    string
	PhaseName string
	Agent     models.AgentSpec                // Command is program text for the shell runtime; the task text never is
	Dir       string                          // the plan's workspace, the working directory
	Home      string                          // HOME, caches and git identity of the plan's agents; exists and is writable
	Task      string                          // the composed task text; on stdin or as a file, never as program text
	Env       []string                        // further NAME=VALUE pairs: ARG_*, DONEWHEN_PHASE, DONEWHEN_PASS
	Limit     time.Duration                   // 0 = the runtime's own limit
	Output    io.Writer                       // receives stdout and stderr, as bytes, as they come
	Started   func(pid int, startTicks int64) // called once, right after the process exists
	Activity  func(line string)               // what the agent is doing now; may be called often
}

// Outcome is how a run ended.
type Outcome struct {
	Status       models.RunStatus // succeeded, failed, timed_out, errored or cancelled
	ExitCode     *int
	Reason       string // for every status but succeeded: one sentence, verbatim text from outside after it
	FinalMessage string
	InputTokens  int64
	OutputTokens int64
	CostUSD      float64
}

// Runtime is a named way to run an agent. The two real kinds are the shell and
// the agent CLIs of runtimes.yaml, both in engine/runner. Run blocks until the
// process and its whole group are gone; a cancelled ctx ends them (TERM, grace,
// KILL) and gives RunCancelled.
type Runtime interface {
	Run(ctx context.Context, job Job) Outcome
	Info() RuntimeInfo
}

// RuntimeInfo is what forms and pages say about a runtime.
type RuntimeInfo struct {
	Alias       string        // "shell", "claude"
	Title       string        // for people
	Shell       bool          // its phases carry a command
	Shown       string        // the program and its flags, e.g. "bash -o pipefail -c"
	Limit       time.Duration // default time limit of a run
	MaxLimit    time.Duration
	Available   bool   // its program was found
	Unavailable string // why not and what to do, when Available is false
}

// CheckJob is one `run:` check in a plan's workspace.
type CheckJob struct {
	Dir     string
	Home    string // HOME and caches of the checks, apart from the agents'
	Command string
	Env     []string // ARG_* values
	Limit   time.Duration
	AtLimit string    // what is said to somebody whose check came to its limit
	Output  io.Writer // gets what it prints; may be nil
}

// CheckRunner carries out a `run:` check: exit code 0 is passed, any other
// failed with code and output tail in the reasoning, a check that could not be
// started is skipped.
type CheckRunner func(ctx context.Context, job CheckJob) dod.CheckOutcome

// Leftover is a run whose process may have outlived the server that started it.
type Leftover struct {
	RunID    int64
	Pid      int
	PidStart int64
}

// Reaper ends the processes that a crashed server left behind, found by pid
// with start time and by DONEWHEN_RUN_ID in their environment, and returns
// how many it ended.
type Reaper func(ctx context.Context, left []Leftover) (ended int, err error)
