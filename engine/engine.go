// Package engine decides what happens next. One file per verb; the rows are
// the truth, every move is a compare-and-swap in one transaction, and what
// changed is published after the commit. It knows no HTTP, no SQL and no
// processes: those are handlers, models/store and engine/runner.
package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"donewhen/dod"
	"donewhen/engine/workspace"
	"donewhen/models"
	"donewhen/models/store"
)

// Config is what an Engine is made of.
type Config struct {
	Store    *store.Store
	Logs     *store.Logs
	Spaces   *workspace.Manager
	Runtimes []Runtime
	Check    CheckRunner
	Reap     Reaper
	// Judge is asked about done_when, Evaluator about a plan's definition of
	// done. nil is the `text` model: plain lines are matched literally.
	Judge     dod.Asker
	Evaluator dod.Asker
	// Summariser writes a short text about a completed phase; nil: nobody does.
	Summariser dod.Asker
	MoreJudges []dod.Asker // who else may be asked, in this order
	// Canaries: about one in so many judgings is followed by a planted pass for the
	// same judge; 0 is never.
	Canaries   int
	HomeDir    string // folder for the HOMEs of agents and checks, one pair a plan
	Now        func() time.Time
	Log        *slog.Logger
	Workers    int             // passes that run at once; 0 = 4
	Backoff    []time.Duration // waits before the second and third try of what is not the work's fault
	CheckLimit time.Duration   // time limit of one run: check; 0 = 10 min
	TargetAge  time.Duration   // how old what a page shows of a plan's target may be; 0 = it looks each time
	// CommandsBy is the role that may write commands (shell phases, run: checks).
	CommandsBy models.Role
	// Failpoint is called at the named points between two steps that a crash may
	// separate; nil outside of the crash drill.
	Failpoint func(name string)
	// Secrets are values that never appear in evidence.
	Secrets []string
}

// Engine runs plans. Verbs may be called from any goroutine.
type Engine struct {
	Config
	hub        *Hub
	dispatcher Dispatcher
	wake       chan struct{}
	work       sync.WaitGroup // judging, evaluations and applies under way
	life       context.Context
	end        context.CancelFunc

	mu       sync.Mutex
	runtimes map[string]Runtime
	under    map[workKey]workUnderWay
	progress map[int64]Progress // of evaluations under way
	looks    looks
}

// New makes an Engine. Nothing runs until Recover and Run are called.
func New(c Config) *Engine {
	if c.Now == nil {
		c.Now = func() time.Time { return time.Now().UTC() }
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Workers == 0 {
		c.Workers = 4
	}
	if c.Backoff == nil {
		c.Backoff = []time.Duration{5 * time.Second, 30 * time.Second}
	}
	if c.CheckLimit == 0 {
		c.CheckLimit = 10 * time.Minute
	}
	if c.CommandsBy == "" {
		c.CommandsBy = models.RoleLead
	}
	e := &Engine{
		Config:   c,
		hub:      NewHub(),
		wake:     make(chan struct{}, 1),
		runtimes: map[string]Runtime{},
		under:    map[workKey]workUnderWay{},
		progress: map[int64]Progress{},
	}
	e.life, e.end = context.WithCancel(context.Background())
	for _, r := range c.Runtimes {
		e.runtimes[r.Info().Alias] = r
	}
	e.dispatcher = newLocal(c.Workers, e.ExecutePass, func(err error) { e.Log.Error("pass", "err", err) })
	return e
}

func (e *Engine) at(point string) {
	if e.Failpoint != nil {
		e.Failpoint(point)
	}
}

// Hub tells who listens that something changed.
func (e *Engine) Hub() *Hub { return e.hub }

// RuntimeList is what forms offer, in the order of runtimes.yaml.
func (e *Engine) RuntimeList() []RuntimeInfo {
	out := make([]RuntimeInfo, 0, len(e.Runtimes))
	for _, r := range e.Runtimes {
		out = append(out, r.Info())
	}
	return out
}

// JudgeSpec names what judges done_when, "text" when no model is configured.
func (e *Engine) JudgeSpec() string { return specOf(e.Judge) }

// EvaluatorSpec names what judges `judge` lines of a definition of done.
func (e *Engine) EvaluatorSpec() string { return specOf(e.Evaluator) }

func specOf(a dod.Asker) string {
	if a == nil {
		return "text"
	}
	return a.Evaluator()
}

// Wake makes the sweep look now instead of at its next tick.
func (e *Engine) Wake() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// Close ends running agents, waits for everything under way and closes the
// hub. An agent that was done by itself is still recorded. Rows of those that were
// ended stay "running": recovery at the next start marks them lost and they are
// tried again.
func (e *Engine) Close() {
	e.end()
	e.dispatcher.Close()
	e.work.Wait()
	e.hub.Close()
}

// change runs one transaction, then publishes the plan and wakes the sweep.
func (e *Engine) change(ctx context.Context, planID string, fn func(tx *store.Tx) error) error {
	return e.changed(planID, e.Store.InTx(ctx, fn))
}

// decide is change for a person's decision: it is on disk when it returns.
func (e *Engine) decide(ctx context.Context, planID string, fn func(tx *store.Tx) error) error {
	return e.changed(planID, e.Store.Decide(ctx, fn))
}

func (e *Engine) changed(planID string, err error) error {
	if err != nil {
		return err
	}
	if planID != "" {
		e.hub.Publish("plan:"+planID, "plans")
	}
	e.Wake()
	return nil
}

// require refuses an actor whose role does not include the wanted one.
func require(a models.Actor, want models.Role) error {
	if a.Role.Can(want) {
		return nil
	}
	who := "a " + string(want)
	if want == models.RoleAdmin {
		who = "an admin"
	}
	return models.Errorf(models.CodeForbidden, "This needs the role %s; you are %s. Ask %s to do it.", want, a.Role, who)
}

func repoOf(p models.Project) workspace.Repo {
	return workspace.Repo{Key: "p" + itoa(p.ID), Path: p.Path}
}
