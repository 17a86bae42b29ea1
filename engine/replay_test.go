package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// dump is every row of every table, as text.
func (h *house) dump() string {
	h.t.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(h.dir, "donewhen.db")+"?mode=ro")
	must(h.t, err)
	defer db.Close()
	names, err := db.Query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
	must(h.t, err)
	var tables []string
	for names.Next() {
		var n string
		must(h.t, names.Scan(&n))
		tables = append(tables, n)
	}
	must(h.t, names.Err())
	var b strings.Builder
	for _, table := range tables {
		rows, err := db.Query("SELECT * FROM " + table)
		must(h.t, err)
		columns, err := rows.Columns()
		must(h.t, err)
		for rows.Next() {
			row, at := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				at[i] = &row[i]
			}
			must(h.t, rows.Scan(at...))
			fmt.Fprintln(&b, table, row)
		}
		must(h.t, rows.Err())
		rows.Close()
	}
	return b.String()
}

// twoPasses is a phase that is built in its second pass only.
func twoPasses(name, also string) engine.NewPhase {
	p := shell(name, "echo x >> count-"+name+"; echo started; if [ $(wc -l < count-"+name+") -ge 2 ]; then echo built; "+also+"; fi")
	p.DoneWhen = "- It is built -> match: /(?m)^built$/"
	return p
}

func TestReplayListsExactlyThePassesThatWouldHaveBeenHeldBack(t *testing.T) {
	h := newHouse(t)
	var phases []engine.NewPhase
	for i := range 10 {
		also := "echo lint clean"
		if i%2 == 1 {
			also = "echo lint not run"
		}
		phases = append(phases, twoPasses(fmt.Sprint("p", i), also))
	}
	id := h.start(phases...)
	h.wantPlan(id, models.PlanFinished)
	var held []int64
	for i, ph := range h.detail(id).Phases {
		if i%2 == 1 {
			held = append(held, ph.Passes[1].Pass.ID)
		}
	}
	before := h.dump()
	replay := func(text string) engine.ReplayReport {
		t.Helper()
		r, err := h.engine.Replay(h.ctx, lead, engine.ReplayInput{Filter: models.PassFilter{ProjectID: h.project.ID, Limit: 50}, DoneWhen: text})
		must(t, err)
		if len(r.Passes) != 20 {
			t.Fatalf("%d passes, want 20", len(r.Passes))
		}
		return r
	}
	changed := func(r engine.ReplayReport, c engine.ReplayChange) (ids []int64) {
		for _, p := range r.Passes {
			if p.Change == c {
				ids = append(ids, p.Pass.ID)
			}
		}
		slices.Sort(ids)
		return ids
	}

	same := replay(phases[0].DoneWhen)
	if same.Count(engine.ChangeNone) != 20 {
		t.Errorf("the condition itself changes something: %+v", same.Passes)
	}
	for _, p := range same.Passes {
		if p.Moved {
			t.Errorf("pass %d: evidence collected again has another hash", p.Pass.ID)
		}
	}
	stricter := replay(phases[0].DoneWhen + "\n- Lint is clean -> match: /lint clean/")
	if got := changed(stricter, engine.ChangeHeldBack); !slices.Equal(got, held) {
		t.Errorf("held back %v, want %v", got, held)
	}
	if stricter.Count(engine.ChangeNone) != 15 {
		t.Errorf("%d stay the same, want 15", stricter.Count(engine.ChangeNone))
	}
	for _, p := range stricter.Passes {
		if p.Change == engine.ChangeHeldBack && !slices.Equal(p.Lines, []int{2}) {
			t.Errorf("pass %d is held back by lines %v, want 2", p.Pass.ID, p.Lines)
		}
	}
	if got := changed(replay("- It began -> match: /started/"), engine.ChangeLetThrough); len(got) != 10 {
		t.Errorf("let through: %v, want the ten first passes", got)
	}
	// Of the workspace of then nothing is known: never held back, never let through.
	gone := replay("- It began -> match: /started/\n- The list is there -> run: test -f list.txt")
	if gone.Count(engine.ChangeUnknown) != 20 {
		t.Errorf("a check of the workspace gave a finding: %+v", gone.Passes[0])
	}
	if after := h.dump(); after != before {
		t.Error("a replay wrote into the database")
	}
}

func TestReplayAsksAboutTheStoredEvidence(t *testing.T) {
	var asked []string
	strict, dead := false, false
	var mu sync.Mutex
	judge := judgeFunc(func(q dod.Question) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, q.Criterion.Text)
		switch {
		case dead:
			return "", errors.New("401 the key is wrong")
		case !strings.Contains(q.Prompt, "hello from the agent"):
			return `{"met":false,"reason":"no evidence"}`, nil
		case strict && strings.Contains(q.Criterion.Text, "tests"):
			return `{"met":false,"reason":"no test ran"}`, nil
		}
		return `{"met":true,"reason":"it says so"}`, nil
	})
	h := newHouse(t, withJudge(judge))
	p := shell("greet", "echo hello from the agent; echo made > made.txt")
	p.DoneWhen = "- It greets\n- It is there -> run: test -f made.txt"
	id := h.start(p)
	pass := h.wantPhase(id, 1, models.PhaseCompleted, 1).Passes[0]
	removeFile(h.workFile(id, "made.txt")) // the workspace of now says nothing about then
	before := h.dump()
	asked, strict = nil, true
	in := engine.ReplayInput{PassIDs: []int64{pass.Pass.ID, pass.Pass.ID}, DoneWhen: "- It greets\n- Its tests pass\n- It is there -> run: test -f made.txt\n- (info) More -> run: true"}
	r, err := h.engine.Replay(h.ctx, lead, in)
	must(t, err)
	got := r.Passes[0]
	if len(r.Passes) != 1 || got.Change != engine.ChangeHeldBack || !slices.Equal(got.Lines, []int{2}) || r.Cost.Questions != 2 || r.Evaluator != "runtime:scripted" {
		t.Fatalf("%+v", r)
	}
	if o := got.Results[2]; o.Status != dod.Passed || o.Origin != engine.OriginRecorded {
		t.Errorf("the recorded check: %+v", o)
	}
	if o := got.Results[3]; o.Status != dod.Skipped || o.Origin != engine.OriginMissing {
		t.Errorf("the check that was never recorded: %+v", o)
	}
	if n := h.engine.ReplayQuestions(in.DoneWhen, ""); n != 2 {
		t.Errorf("%d questions foreseen, want 2", n)
	}

	asked = nil
	in.Evaluator = engine.ReplayText
	if r, err = h.engine.Replay(h.ctx, lead, in); err != nil || len(asked) != 0 || r.Passes[0].State != engine.ReplayNotMet || r.Evaluator != "text" {
		t.Errorf("literal matching: %v, asked %v, %+v", err, asked, r)
	}

	in.Evaluator, dead = "", true
	if r, err = h.engine.Replay(h.ctx, lead, in); err != nil || r.Passes[0].Change != engine.ChangeUnknown || r.Passes[0].State == engine.ReplayMet {
		t.Errorf("a dead judge: %v, %+v", err, r)
	}
	if h.dump() != before {
		t.Error("a replay wrote into the database")
	}
}

func TestReplayWithAnyEvaluatorWritesNothing(t *testing.T) {
	h := newHouse(t, withJudge(always("openai:quick", saysMet)), withMore(always("openai:strict", saysNotMet)))
	p := shell("work", "echo x")
	p.DoneWhen = "- it is done well"
	id := h.start(p)
	pass := h.wantPhase(id, 1, models.PhaseCompleted, 1).Passes[0].Pass.ID
	if got := h.engine.Evaluators(); !slices.Equal(got, []string{"openai:quick", "openai:strict"}) {
		t.Errorf("evaluators %v", got)
	}
	before := h.dump()
	for evaluator, want := range map[string]engine.ReplayChange{
		"": engine.ChangeNone, "openai:quick": engine.ChangeNone, "openai:strict": engine.ChangeHeldBack, engine.ReplayText: engine.ChangeHeldBack,
	} {
		r, err := h.engine.Replay(h.ctx, lead, engine.ReplayInput{PassIDs: []int64{pass}, DoneWhen: p.DoneWhen, Evaluator: evaluator})
		must(t, err)
		if r.Passes[0].Change != want || evaluator != "" && r.Evaluator != evaluator {
			t.Errorf("%q: %s by %s, want %s", evaluator, r.Passes[0].Change, r.Evaluator, want)
		}
	}
	_, err := h.engine.Replay(h.ctx, lead, engine.ReplayInput{PassIDs: []int64{pass}, DoneWhen: p.DoneWhen, Evaluator: "openai:nobody"})
	wantErrCode(t, err, models.CodeInvalid)
	if h.dump() != before {
		t.Error("a replay wrote into the database")
	}
}

func TestReplayRefusals(t *testing.T) {
	h := newHouse(t)
	id := h.start(func() engine.NewPhase {
		p := shell("fails", "echo x; false")
		p.DoneWhen, p.MaxIterations = "x", 1
		return p
	}())
	pass := h.phase(id, 1).Passes[0].Pass.ID
	in := engine.ReplayInput{PassIDs: []int64{pass}, DoneWhen: "x"}
	r, err := h.engine.Replay(h.ctx, lead, in)
	must(t, err)
	if p := r.Passes[0]; p.State != engine.ReplayNotMet || p.Change != engine.ChangeNone || !strings.Contains(p.Reason, "did not succeed") {
		t.Errorf("a failed run: %+v", p)
	}
	_, err = h.engine.Replay(h.ctx, models.Actor{ID: 3, Name: "vic", Role: models.RoleViewer}, in)
	wantErrCode(t, err, models.CodeForbidden)
	for _, text := range []string{" ", "- somebody agrees -> human", "- a -> match: /x*/"} {
		_, err = h.engine.Replay(h.ctx, lead, engine.ReplayInput{PassIDs: in.PassIDs, DoneWhen: text})
		wantErrCode(t, err, models.CodeInvalid)
	}
	ctx, end := context.WithCancel(h.ctx)
	end()
	if _, err = h.engine.Replay(ctx, lead, in); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestReplayEndsWithTheRequestAndWithTheEngine(t *testing.T) {
	began := make(chan struct{}, 9)
	h := newHouse(t, withJudge(hangs(began)))
	id := h.start(shell("one", "echo x"))
	in := engine.ReplayInput{PassIDs: []int64{h.phase(id, 1).Passes[0].Pass.ID}, DoneWhen: "- It is done"}
	ctx, end := context.WithCancel(h.ctx)
	ended := make(chan error, 1)
	go func() { _, err := h.engine.Replay(ctx, lead, in); ended <- err }()
	<-began
	end()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the request's end: %v", err)
	}
	go func() { _, err := h.engine.Replay(h.ctx, lead, in); ended <- err }()
	<-began
	h.engine.Close()
	wantErrCode(t, <-ended, models.CodeUnavailable)
}

// hangs is a judge that answers nothing until it is not waited for any more.
type hangs chan<- struct{}

func (h hangs) Ask(ctx context.Context, _ dod.Question) (dod.Reply, error) {
	h <- struct{}{}
	<-ctx.Done()
	return dod.Reply{}, ctx.Err()
}

func (hangs) Evaluator() string { return "runtime:hangs" }

func TestReplayOfTooManyIsRefusedBeforeAnythingIsRead(t *testing.T) {
	h := newHouse(t)
	many := make([]int64, engine.MaxReplay+1)
	for i := range many {
		many[i] = int64(i + 1)
	}
	_, err := h.engine.Replay(h.ctx, lead, engine.ReplayInput{PassIDs: many, DoneWhen: "x"})
	wantErrCode(t, err, models.CodeInvalid)
}
