package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

// errPlanStopped says that the plan was paused or ended before a run began.
var errPlanStopped = errors.New("the plan does not run")

// errTaken says that somebody else has the pass, or that it is over.
var errTaken = errors.New("the pass is taken or over")

// ExecutePass claims a pass and carries out its runs in order, from its first
// unfinished one: finished runs are never run again. It returns when the runs
// have ended, the plan was paused, or one run did not succeed; the sweep
// settles what follows. A pass that another worker has is left alone.
func (e *Engine) ExecutePass(_ context.Context, passID int64) error {
	ctx := e.life
	worker := "worker"
	pass, err := e.claim(ctx, passID, worker)
	if errors.Is(err, errTaken) || ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	e.at("after_claim")
	broke := e.orphans(ctx, pass)
	for broke == nil {
		run, err := e.nextRun(ctx, pass)
		if err != nil || run == nil {
			broke = err
			break
		}
		ok, err := e.executeRun(ctx, pass, *run, worker)
		if err != nil || !ok {
			broke = err
			break
		}
	}
	if ctx.Err() != nil || errors.Is(broke, errParked) {
		return nil // the server stops and recovery frees the claim, or it is free already
	}
	due := e.Now()
	if broke != nil {
		due = due.Add(sweepEvery) // what is broken must not keep the server busy
	}
	return errors.Join(broke, e.persist("release of a pass", func() error { return e.release(ctx, pass, worker, due) }))
}

// orphans marks runs lost that are "running" under a pass which nobody had: the
// end of such a run could not be stored, and its process is gone.
func (e *Engine) orphans(ctx context.Context, pass models.Pass) error {
	runs, err := e.Store.RunsOf(ctx, pass.ID)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Status != models.RunRunning {
			continue
		}
		reason := "How it ended could not be stored."
		err := e.change(ctx, pass.PlanID, func(tx *store.Tx) error {
			return tx.MoveRun(ctx, r.ID, models.RunRunning, models.RunLost, store.RunSet{Reason: &reason, EndedAt: new(e.Now())}, store.Why{Reason: reason})
		})
		if ignoreConflict(err) != nil {
			return err
		}
	}
	return nil
}

// claim takes a queued pass, or one that runs and lost its worker.
func (e *Engine) claim(ctx context.Context, passID int64, worker string) (models.Pass, error) {
	pass, err := e.Store.Pass(ctx, passID)
	if err != nil {
		return pass, err
	}
	err = e.change(ctx, pass.PlanID, func(tx *store.Tx) error {
		if pass, err = tx.Pass(ctx, passID); err != nil {
			return err
		}
		plan, err := tx.Plan(ctx, pass.PlanID)
		if err != nil {
			return err
		}
		if plan.Status != models.PlanRunning {
			return errTaken
		}
		switch {
		case pass.ClaimedBy != "":
			return errTaken
		case pass.Status == models.PassQueued:
			set := store.PassSet{ClaimedBy: &worker}
			if pass.StartedAt == nil {
				set.StartedAt = new(e.Now())
			}
			if err := tx.MovePass(ctx, passID, models.PassQueued, models.PassRunning, set, store.Why{}); err != nil {
				return err
			}
			pass.Status = models.PassRunning
			return nil
		case pass.Status == models.PassRunning:
			got, err := tx.ClaimPass(ctx, passID, models.PassRunning, worker)
			if err == nil && !got {
				return errTaken
			}
			return err
		}
		return errTaken
	})
	if models.CodeOf(err) == models.CodeConflict {
		err = errTaken
	}
	return pass, err
}

// release gives the pass back and makes its phase due, so that the sweep
// settles it. Under a paused plan it waits for resume.
func (e *Engine) release(ctx context.Context, pass models.Pass, worker string, due time.Time) error {
	return e.change(ctx, pass.PlanID, func(tx *store.Tx) error {
		if err := tx.ReleasePass(ctx, pass.ID, worker); err != nil {
			return err
		}
		return ignoreConflict(tx.SetPhase(ctx, pass.PhaseID, models.PhaseRunning, store.PhaseSet{DueAt: &due}))
	})
}

// nextRun is the first run of the pass that is still to be done, nil when the
// pass's runs have ended, one of them did not succeed, or the plan is not
// running any more.
func (e *Engine) nextRun(ctx context.Context, pass models.Pass) (*models.Run, error) {
	plan, err := e.Store.Plan(ctx, pass.PlanID)
	if err != nil || plan.Status != models.PlanRunning {
		return nil, err
	}
	runs, err := e.Store.RunsOf(ctx, pass.ID)
	if err != nil {
		return nil, err
	}
	for _, r := range latestTries(runs) {
		if r.Status == models.RunQueued {
			return &r, nil
		}
		if r.Status != models.RunSucceeded {
			return nil, nil
		}
	}
	return nil, nil
}

// executeRun starts one agent, waits for its end, records the workspace and
// moves the run to its final state. ok says whether the pass goes on.
func (e *Engine) executeRun(ctx context.Context, pass models.Pass, run models.Run, worker string) (ok bool, err error) {
	plan, project, err := e.planProject(ctx, run.PlanID)
	if err != nil {
		return false, err
	}
	ph, err := e.Store.Phase(ctx, run.PhaseID)
	if err != nil {
		return false, err
	}
	parked := false
	err = e.change(ctx, run.PlanID, func(tx *store.Tx) error {
		// Read again inside: after a pause nothing new starts.
		plan, err := tx.Plan(ctx, run.PlanID)
		if err != nil || plan.Status != models.PlanRunning {
			return cmp.Or(err, errPlanStopped)
		}
		why, err := e.usedUp(ctx, &tx.Reader, plan, models.SpendsRun)
		if err != nil {
			return err
		}
		if parked = why != ""; parked {
			return e.parkRun(ctx, tx, pass, worker, why)
		}
		now, err := tx.Phase(ctx, run.PhaseID)
		if err != nil {
			return err
		}
		if now.Status == models.PhaseRunning && now.Reason != "" { // what was said of the try before is no news any more
			if err := tx.SetPhase(ctx, now.ID, models.PhaseRunning, store.PhaseSet{Reason: new("")}); err != nil {
				return err
			}
		}
		return tx.MoveRun(ctx, run.ID, models.RunQueued, models.RunRunning, store.RunSet{StartedAt: new(e.Now())}, store.Why{})
	})
	if errors.Is(err, errPlanStopped) {
		return false, nil
	}
	if err != nil {
		return false, ignoreConflict(err)
	}
	if parked {
		return false, errParked
	}
	var out Outcome
	var bytes int64
	var cut bool
	if err := guarded(func() error { out, bytes, cut = e.runAgent(ctx, plan, project, ph, pass, run); return nil }); err != nil {
		out = Outcome{Status: models.RunErrored, Reason: err.Error()}
	}
	// A stop does not end what follows: work that is done is not done once more.
	stopping := ctx.Err
	ctx, ended := finishing(ctx)
	defer ended()
	e.at("after_agent")
	if stopping() != nil && out.Status != models.RunSucceeded && !e.stoppedByPerson(ctx, run.ID) { // a failure may be the stop's own doing
		return false, e.interrupted(ctx, run, out)
	}
	set := store.RunSet{
		ExitCode: out.ExitCode, FinalMessage: &out.FinalMessage, Reason: new(e.redact(cleanText(out.Reason))), Activity: new(""),
		InputTokens: &out.InputTokens, OutputTokens: &out.OutputTokens, CostUSD: &out.CostUSD,
		LogBytes: &bytes, LogCut: &cut, EndedAt: new(e.Now()),
	}
	snap, snapErr := e.Spaces.Snapshot(ctx, repoOf(project), plan.ID, plan.BaseCommit,
		fmt.Sprintf("%s: pass %d, %s", ph.Name, pass.Number(), run.Agent.Label()))
	if snapErr == nil {
		set.Commit, set.Tree = &snap.Commit, &snap.Tree
	} else if stopping() != nil {
		return false, e.interrupted(ctx, run, out)
	} else if out.Status == models.RunSucceeded || out.Status == models.RunFailed {
		// Work that could not be recorded cannot count as done.
		out.Status = models.RunErrored
		set.Reason = new("The workspace could not be recorded after the run: " + snapErr.Error())
	}
	err = e.change(ctx, plan.ID, func(tx *store.Tx) error {
		if snapErr == nil {
			if err := recordSnapshot(ctx, tx, plan.ID, snap); err != nil {
				return err
			}
			if err := tx.SetPass(ctx, pass.ID, "", store.PassSet{EndCommit: &snap.Commit, EndTree: &snap.Tree}); err != nil {
				return err
			}
		}
		err := tx.MoveRun(ctx, run.ID, models.RunRunning, out.Status, set, store.Why{Reason: *set.Reason})
		if models.CodeOf(err) == models.CodeConflict { // cancelled meanwhile: what it left is kept all the same
			set.Reason = nil // why stands there already
			return ignoreConflict(tx.SetRun(ctx, run.ID, models.RunCancelled, set))
		}
		return err
	})
	return err == nil && out.Status == models.RunSucceeded, err
}

// toRecord is how long a stop waits for the recording of work that is done.
const toRecord = time.Minute

// finishing is a context for what has to follow the end of a piece of work: it
// outlives the stop of the server, though not for ever.
func finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(toRecord):
			cancel()
		case <-out.Done():
		}
	})
	return out, func() { stop(); cancel() }
}

// stoppedByPerson says whether a run was ended by a decision, which no new try
// follows: what it did is recorded now or never.
func (e *Engine) stoppedByPerson(ctx context.Context, runID int64) bool {
	run, err := e.Store.Run(ctx, runID)
	return err == nil && run.Status == models.RunCancelled
}

// interrupted notes that the server's stop ended a run or its recording: recovery
// marks it lost and a new try follows. Until when it worked and what it used is
// known only now.
func (e *Engine) interrupted(ctx context.Context, run models.Run, out Outcome) error {
	ctx = context.WithoutCancel(ctx)
	return e.Store.InTx(ctx, func(tx *store.Tx) error {
		return ignoreConflict(tx.SetRun(ctx, run.ID, models.RunRunning, store.RunSet{
			InputTokens: &out.InputTokens, OutputTokens: &out.OutputTokens, CostUSD: &out.CostUSD, Stopped: new(true), EndedAt: new(e.Now())}))
	})
}

// runAgent runs the process with its log, and returns how it ended.
func (e *Engine) runAgent(ctx context.Context, plan models.Plan, project models.Project, ph models.Phase, pass models.Pass, run models.Run) (out Outcome, bytes int64, cut bool) {
	errored := func(format string, args ...any) Outcome {
		return Outcome{Status: models.RunErrored, Reason: fmt.Sprintf(format, args...)}
	}
	rt, ok := e.runtimes[run.Agent.Runtime]
	if !ok {
		return errored("The runtime %q is not declared in runtimes.yaml.", run.Agent.Runtime), 0, false
	}
	if err := e.Spaces.Ready(repoOf(project), plan.ID); err != nil {
		return errored("%v", err), 0, false
	}
	home, err := e.home(plan.ID, "agents")
	if err != nil {
		return errored("The agent's home folder could not be made: %v", err), 0, false
	}
	log, err := e.Logs.Writer(run.ID)
	if err != nil {
		return errored("The run's log could not be opened: %v", err), 0, false
	}
	ctx, done := e.track(ctx, running, run.ID, plan.ID)
	defer done()
	// A cancel that came before the run was tracked found nothing to end.
	if now, err := e.Store.Run(ctx, run.ID); err != nil || now.Status != models.RunRunning {
		e.endWork(plan.ID, errCancelled, running)
	}

	var shown time.Time
	out = rt.Run(ctx, Job{
		RunID: run.ID, PlanID: plan.ID, PhaseName: ph.Name, Agent: run.Agent,
		Dir: e.Spaces.Dir(repoOf(project), plan.ID), Home: home, Task: pass.TaskText,
		Env: append(dod.ArgEnv(plan.DodArgs),
			"DONEWHEN_PHASE="+ph.Name, "DONEWHEN_PASS="+itoa(pass.Number()), "DONEWHEN_TRY="+itoa(run.Try)),
		Limit:  time.Duration(run.Agent.Limit) * time.Second,
		Output: log,
		Started: func(pid int, ticks int64) {
			e.at("after_spawn")
			err := e.Store.InTx(ctx, func(tx *store.Tx) error {
				return tx.SetRun(ctx, run.ID, models.RunRunning, store.RunSet{Pid: &pid, PidStart: &ticks})
			})
			if err != nil {
				e.Log.Warn("the pid could not be stored; after a crash the process is found by its environment", "run", run.ID, "err", err)
			}
		},
		Activity: func(line string) {
			if now := e.Now(); now.Sub(shown) > time.Second { // a page needs no more, and each costs a write
				shown = now
				_ = e.change(ctx, plan.ID, func(tx *store.Tx) error {
					return tx.SetRun(ctx, run.ID, models.RunRunning, store.RunSet{Activity: new(headTail(e.redact(cleanText(line)), 300))})
				})
			}
		},
	})
	if err := log.Close(); err != nil {
		out = errored("The run's log could not be written: %v", err)
	}
	bytes, cut = log.Stats()
	return out, bytes, cut
}
