package handlers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// refusedForm is a verb that was just refused, with what was typed into its form.
type refusedForm struct {
	key    string
	err    *models.Error
	values map[string]string
}

// typedFields are the fields of verbs' forms that people write in.
var typedFields = []string{"reason", "note", "done_when"}

// typed is what was written into a form that is not offered any more, so that it
// is not lost with it.
func (f *refusedForm) typed() string {
	out := ""
	for _, name := range typedFields {
		if text := strings.TrimSpace(f.values[name]); text != "" {
			out += "\nWhat you had typed: " + text
		}
	}
	return out
}

// planBuilder makes the parts of a plan's page from one reading of its rows.
type planBuilder struct {
	s       *Server
	detail  models.PlanDetail
	gate    engine.GateView
	usage   models.Usage
	role    models.Role
	now     time.Time
	refused *refusedForm
	told    bool          // the refusal has found its button
	ended   *models.Event // who gave the plan up and why, nil when nobody did
	opened  int64         // the phase that the reader asked to see whole, 0 for none
}

func (s *Server) planBuilder(c echo.Context, id string, refused *refusedForm) (*planBuilder, error) {
	ctx := c.Request().Context()
	detail, err := s.Reader.PlanDetail(ctx, id)
	if err != nil {
		return nil, err
	}
	usage, err := s.Reader.UsageOf(ctx, id, s.Now())
	if err != nil {
		return nil, err
	}
	return &planBuilder{s: s, detail: detail, usage: usage, role: s.user(c).Role, now: s.Now(), refused: refused, opened: openedPhase(c)}, nil
}

// withGate asks for the gate, which the card and the checklist are made of: for
// a finished plan git is asked too.
func (b *planBuilder) withGate(ctx context.Context) error {
	var err error
	if b.gate, err = b.s.Engine.Gate(ctx, b.plan().ID); err != nil {
		return err
	}
	if kind := givenUp[b.plan().Status]; kind != "" {
		events, err := b.s.Reader.EventsOf(ctx, b.plan().ID, 0, planLatest)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(events, func(e models.Event) bool { return e.Kind == kind }); i >= 0 {
			b.ended = &events[i]
		}
	}
	return nil
}

// givenUp are the events that end a plan without applying it.
var givenUp = map[models.PlanStatus]string{models.PlanCancelled: "plan.cancelled", models.PlanDiscarded: "plan.discarded"}

func (b *planBuilder) plan() models.Plan { return b.detail.Plan }

func (b *planBuilder) head() views.PlanHead {
	p := b.plan()
	h := views.PlanHead{
		ID: p.ID, Title: p.Title, Goal: p.Goal, Status: p.Status, Project: b.detail.Project.Name,
		ProjectHref: views.ProjectPlansPath(p.ProjectID), Target: p.TargetBranch, Base: p.BaseCommit,
		Creator: b.detail.Creator, Created: p.CreatedAt, Started: p.StartedAt, Ended: p.EndedAt, Cleaned: p.CleanedAt != nil,
		Verbs: b.verbs(planVerbs(p, b.role)), Now: b.now,
	}
	if p.BaseCommit != "" {
		h.Branch, h.Fetch = "donewhen/"+p.ID, b.s.Engine.FetchCommand(p, b.detail.Project)
	}
	if p.Status == models.PlanPaused {
		h.Note = b.stillAtWork()
	}
	return h
}

// stillAtWork is what a pause did not stop, and how it can be.
func (b *planBuilder) stillAtWork() string {
	stop := "It runs to its end; nothing new starts."
	if b.role.Can(lead) {
		stop += " To stop it at once, stop the run or cancel the plan."
	}
	for _, d := range b.detail.Phases {
		for _, p := range d.Passes {
			for _, r := range p.Runs {
				if r.Status == models.RunRunning {
					return fmt.Sprintf("Run %d (%s) of phase %d is still at work. %s", r.Position, r.Agent.Label(), d.Phase.Position, stop)
				}
			}
			if p.Pass.Status == models.PassJudging && p.Pass.ClaimedBy != "" {
				return fmt.Sprintf("Pass %d of phase %d is still being judged. %s", p.Pass.Number(), d.Phase.Position, stop)
			}
		}
	}
	return ""
}

// verbs puts a refusal to the verb that it belongs to.
func (b *planBuilder) verbs(list []views.Verb) []views.Verb {
	if b.refused == nil {
		return list
	}
	for i, v := range list {
		if v.Key != b.refused.key {
			continue
		}
		b.told = true
		list[i].Error, list[i].Details = b.refused.err.Message, b.refused.err.Details
		list[i].Open = len(v.Fields) > 0 && v.Question == ""
		for j, f := range v.Fields {
			if typed, ok := b.refused.values[f.Name]; ok {
				list[i].Fields[j].Value = typed
			}
			list[i].Fields[j].Error = b.refused.err.Fields[f.Name]
			if list[i].Fields[j].Error == b.refused.err.Message && list[i].Open {
				list[i].Error = "Not done yet: please mend the marked field."
			}
		}
	}
	return list
}

func (b *planBuilder) dodCard() views.DodCard {
	p, ev := b.plan(), b.detail.Evaluation
	current := engine.Criteria(p)
	d := views.DodCard{Defined: len(current) > 0, Over: p.Status.Over(), Demanded: b.detail.Project.RequireDoD, Text: p.DodText, Verbs: b.verbs(dodVerbs(p, ev, b.role)), Now: b.now}
	if t := b.detail.Template; t != nil {
		d.Template, d.Href = fmt.Sprintf("%s, version %d", t.Name, t.Version), views.TemplatePath(t.ID)
	}
	summary := b.gate.Summary
	if ev == nil || ev.Status != models.EvaluationDone || !sameCriteria(summary.Results, current) {
		busy := map[int]bool{}
		if at := b.checking(); at != nil {
			for _, r := range at.Rows {
				busy[r.Index] = true
			}
		}
		for _, c := range current {
			row := resultRow(dod.Result{Criterion: c})
			row.Busy = busy[c.Index]
			d.Rows = append(d.Rows, row)
		}
		if d.Defined {
			d.Word, d.Tone = "not evaluated", ui.ToneIdle
		}
		if ev != nil {
			switch ev.Status {
			case models.EvaluationQueued, models.EvaluationRunning:
				d.Word, d.Tone = "being evaluated", ui.ToneBusy
			case models.EvaluationErrored:
				d.Word, d.Tone, d.Error = "trouble", ui.ToneWarn, ev.Error
			}
		}
		return d
	}
	d.Stale, d.Evaluated, d.Evaluator, d.Page = b.gate.Stale, ev.EndedAt, ev.Evaluator, views.EvaluationPath(ev.ID)
	for _, r := range summary.Results {
		row := resultRow(r)
		row.Waived = b.waived(r)
		row.Verbs = b.verbs(b.undoVerbs(r, row.Waived != ""))
		d.Rows = append(d.Rows, row)
	}
	counts := b.gate.Counts()
	d.Word, d.Tone = counts.Words(), countsTone(counts, summary)
	if d.Stale {
		d.Word, d.Tone = "out of date", ui.ToneWarn
	}
	return d
}

// countsTone is what the counts mean to the reader: what passed only by a waiver
// is no plain pass.
func countsTone(c dod.Counts, s dod.Summary) ui.Tone {
	switch {
	case s.AllPassed():
		return ui.ToneOK
	case c.Waived > 0 && c.Passed+c.Waived == c.Required:
		return ui.ToneWarn
	}
	return ui.ToneBad
}

func sameCriteria(results []dod.Result, current []dod.Criterion) bool {
	if len(results) != len(current) {
		return false
	}
	for i, r := range results {
		if r.Criterion != current[i] {
			return false
		}
	}
	return true
}

// Bounds of texts on a plan's page; the whole text is on the page of its own.
const (
	maxReasoning = 2 << 10
	maxTaskShown = 6 << 10 // of one pass
)

// resultRow is a criterion with its result as a line of a list.
func resultRow(r dod.Result) views.ResultRow {
	row := views.ResultRow{
		Index: r.Criterion.Index, Text: r.Criterion.Text, Level: r.Criterion.Level, Check: r.Criterion.Check.String(), Status: r.Status,
		Trouble: r.Kind != "" && r.Kind != dod.KindVerdict, Awaited: awaited(r), Match: r.Match,
	}
	row.Reasoning, row.Cut = cutText(r.Reasoning, maxReasoning)
	if len(r.Opinions) > 0 {
		row.Opinions = opinionRows(r.Opinions)
		switch r.Status { // the reasons stand with who gave them
		case dod.Passed:
			row.Reasoning = fmt.Sprintf("All %d judges say met.", len(r.Opinions))
		case dod.Failed:
			row.Reasoning = "The judges disagree. Only a unanimous met counts."
		}
	}
	return row
}

// awaited says whether nobody has answered yet: in data such a result is a skipped one.
func awaited(r dod.Result) bool {
	return r.Criterion.Check.Kind == dod.CheckHuman && r.Status == dod.Skipped
}

// cutText keeps the first limit bytes, cut on a rune boundary.
func cutText(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit], true
}

// phase is a phase with its passes. stale is why it cannot be approved any more,
// "" when it can.
func (b *planBuilder) phase(d models.PhaseDetail, last bool, stale string) views.PhaseCard {
	ph := d.Phase
	card := views.PhaseCard{
		ID: ph.ID, Position: ph.Position, Name: ph.Name, Status: ph.Status, Reason: ph.Reason, Task: ph.Task,
		MaxIterations: ph.MaxIterations, Opinions: ph.Opinions, Attempt: ph.Attempt, NeedsApproval: ph.NeedsApproval, Last: last,
	}
	if b.opened != ph.ID {
		if card.Task, card.TaskCut = cutText(ph.Task, maxTaskShown); card.TaskCut {
			card.Whole = views.PhaseWholePath(b.plan().ID, ph.ID)
		}
	}
	verbs := b.withOpinions(phaseVerbs(b.detail, d, b.role), d.Phase)
	if ph.OverBudget && len(verbs) > 0 {
		key := phaseKey(ph.ID, views.VerbBudget)
		raise := raiseVerb(b.plan(), b.usage, key, key)
		raise.Kind = ui.Primary
		verbs = append([]views.Verb{raise}, verbs...)
	}
	if stale != "" {
		card.Reason, verbs = stale, withoutApproval(verbs, ph)
	}
	card.Verbs = b.verbs(verbs)
	switch cur := currentPass(d); {
	case ph.OverBudget:
		card.Choice = "Nothing failed, no pass is spent and all work is kept. Raise the budget, and the phase goes on by itself where it stopped; or take the work as it is."
	case ph.Status == models.PhaseStalled:
		card.Choice = "It has stopped, because another pass like the last one would cost and change nothing. Mend the condition if it asks for the wrong thing, tell the agents what they miss, allow more passes, or take the work as it is."
	case ph.Status == models.PhaseExhausted:
		card.Choice = "All its passes are used up. The work is kept, and later phases wait. Allow more passes, tell the agents what they miss, mend the condition if it asks for the wrong thing, or take the work as it is."
	case ph.Status == models.PhaseFailed:
		card.Choice = "The work so far is kept, and later phases wait. Retry it with a word on what went wrong, give it another pass, or take the work as it is."
	case ph.Status == models.PhaseNeedsAttention && cur.Status == models.PassJudging && !judgedBefore(d):
		card.Choice = "Nothing was judged and no pass is spent. Mend the condition, tell the agents what to do, judge the work all the same, or take it as it is."
	case ph.Status == models.PhaseNeedsAttention && cur.Status == models.PassJudging:
		card.Choice = "The judge gave no usable answer, so nothing is decided and no pass is spent. Judge again when it can answer, mend the condition if the judge stumbles over it, or take the work as it is."
	case ph.Status == models.PhaseNeedsAttention && wasStopped(d, cur.ID):
		card.Choice = "The run was stopped, and no pass is spent. Its work so far is kept. Try it again on the files as they are, change what is asked first, or take the work as it is."
	case ph.Status == models.PhaseNeedsAttention:
		card.Choice = "An agent could not do its work, and no pass is spent. Mend what is in its way and try again; or take the work as it is."
	}
	for _, a := range ph.Agents {
		label := a.Label()
		if label != a.Runtime {
			label += " (" + a.Runtime + ")"
		}
		row := views.AgentRow{Label: label}
		row.Command, row.CommandCut = cutText(a.Command, maxReasoning)
		card.Agents = append(card.Agents, row)
	}
	if b.role.Can(lead) {
		card.Copy = views.NewPlanFromPath(b.plan().ID)
	}
	for _, c := range dod.ParseCriteria(ph.DoneWhen) {
		card.DoneWhen = append(card.DoneWhen, resultRow(dod.Result{Criterion: c}))
	}
	for _, dec := range b.detail.Decisions {
		if dec.PhaseID == nil || *dec.PhaseID != ph.ID {
			continue
		}
		switch dec.Kind {
		case models.DecisionAccept:
			card.Override = "Accepted as it is by " + dec.UserName + ": " + dec.Reason
		case models.DecisionApprove:
			card.Said = append(card.Said, spoken("Approved by "+dec.UserName, dec.Reason))
		case models.DecisionReject:
			if said := spoken("Rejected by "+dec.UserName, dec.Reason); said != ph.Reason { // while it stands, it is the phase's reason
				card.Said = append(card.Said, said)
			}
		}
	}
	if ph.Overridden && card.Override == "" {
		card.Override = ph.Reason
	}
	switch ph.Status {
	case models.PhasePending, models.PhaseRunning, models.PhaseJudging:
		if b.plan().Status != models.PlanDraft && ph.DoneWhen != "" { // without a condition one pass is all there is
			card.Next = fmt.Sprintf("pass %d of %d", ph.Iteration+1, ph.MaxIterations)
		}
	}
	if ph.DueAt != nil && ph.DueAt.After(b.now) && ph.Reason != "" && (ph.Status == models.PhaseJudging || currentPass(d).Status == models.PassQueued) {
		card.Again = ph.DueAt
	}
	if ph.Status == models.PhaseRunning || ph.Status == models.PhaseJudging {
		card.Paused = b.plan().Status == models.PlanPaused && currentPass(d).ClaimedBy == ""
	}
	for _, p := range d.Passes {
		row := passRow(p, d.Phase, b.now)
		current := p.Pass.ID == deref(ph.PassID)
		if current && card.Paused {
			row.Mark = views.PassMark{Word: "paused", Tone: ui.ToneWarn, Icon: "circle-pause"}
		}
		row.Open = current && ph.Status != models.PhaseCompleted
		if current {
			card.Flags = row.Flags
		}
		card.Passes = append(card.Passes, row)
	}
	return card
}

func spoken(who, reason string) string {
	if strings.TrimSpace(reason) == "" {
		return who + "."
	}
	return who + ": " + reason
}

func deref(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}

// passRow is a pass as a line with what opens under it.
func passRow(d models.PassDetail, ph models.Phase, now time.Time) views.PassRow {
	p := d.Pass
	row := views.PassRow{
		ID: p.ID, Position: ph.Position, Number: p.Number(), Attempt: p.Attempt, Retried: ph.Attempt > 1, Status: p.Status, Reason: p.Reason,
		Task: p.TaskText, TaskSize: len(p.TaskText), Note: p.Note, Started: p.StartedAt, Ended: p.EndedAt, Took: between(p.StartedAt, p.EndedAt),
		Changed: p.StartCommit != "" && p.EndCommit != "" && p.StartCommit != p.EndCommit, PlanID: p.PlanID, Now: now,
		Mark: passMark(d),
	}
	for _, r := range d.Runs {
		row.Runs = append(row.Runs, runRow(r))
	}
	if p.Status == models.PassJudging && d.Verdict == nil && ph.Status == models.PhaseNeedsAttention {
		row.Mark = views.PassMark{Word: "not judged", Tone: ui.ToneWarn, Icon: "hand"}
	}
	if v := d.Verdict; v != nil {
		row.Verdict, row.Judge, row.Reused, row.Distrusted, row.Flags = v.ID, v.Evaluator, v.ReusedFrom != nil, v.Distrusted, flagNotice(v)
		if row.Reason == "" {
			row.Reason = v.Reason
		}
		for _, r := range engine.Results(*v) {
			row.Results = append(row.Results, resultRow(r))
		}
		if len(row.Results) > 0 && v.Kind == models.VerdictGiven {
			row.Reason = "" // the list says the same, criterion by criterion
		}
	}
	return row
}

// stopped says whether a person stopped a run that was not tried again since.
func stopped(runs []models.Run) bool {
	newest := map[int]string{}
	for _, r := range runs { // by position, then try
		newest[r.Position] = r.StoppedBy
	}
	for _, by := range newest {
		if by != "" {
			return true
		}
	}
	return false
}

func wasStopped(d models.PhaseDetail, passID int64) bool {
	return slices.ContainsFunc(d.Passes, func(p models.PassDetail) bool { return p.Pass.ID == passID && stopped(p.Runs) })
}

// passMark is a pass in one sign and word.
func passMark(d models.PassDetail) views.PassMark {
	v := d.Verdict
	trouble := v != nil && (v.Kind == models.VerdictInvalid || v.Kind == models.VerdictTrouble)
	failedRun := v != nil && v.Kind == models.VerdictRun
	if v == nil && d.Pass.Status == models.PassNotMet {
		failedRun = true // a phase without a condition is never judged
	}
	switch d.Pass.Status {
	case models.PassMet:
		if v == nil { // its phase has no condition
			return views.PassMark{Word: "done", Tone: ui.ToneOK, Icon: "circle-check"}
		}
		return views.PassMark{Word: "met", Tone: ui.ToneOK, Icon: "circle-check"}
	case models.PassNotMet:
		switch {
		case failedRun:
			return views.PassMark{Word: "run failed", Tone: ui.ToneBad, Icon: "square-terminal"}
		case v != nil && v.ReusedFrom != nil:
			return views.PassMark{Word: "not met, reused", Tone: ui.ToneBad, Icon: "repeat"}
		}
		return views.PassMark{Word: "not met", Tone: ui.ToneBad, Icon: "circle-x"}
	case models.PassJudging:
		if d.Pass.QuotaSince != nil {
			return views.PassMark{Word: "waiting for quota", Tone: ui.ToneWarn, Icon: "clock"}
		}
		if trouble {
			return views.PassMark{Word: "evaluator trouble", Tone: ui.ToneWarn, Icon: "triangle-alert"}
		}
		return views.PassMark{Word: "being judged", Tone: ui.ToneBusy, Icon: "gavel"}
	case models.PassRunning:
		if stopped(d.Runs) {
			return views.PassMark{Word: "stopped", Tone: ui.ToneWarn, Icon: "ban"}
		}
		if n := len(d.Runs); n > 0 && (d.Runs[n-1].Status == models.RunErrored || d.Runs[n-1].Status == models.RunLost) {
			return views.PassMark{Word: "agent trouble", Tone: ui.ToneWarn, Icon: "triangle-alert"} // its next try has not begun
		}
		return views.PassMark{Word: "running", Tone: ui.ToneBusy, Icon: "circle-play"}
	case models.PassCancelled:
		return views.PassMark{Word: "cancelled", Tone: ui.ToneIdle, Icon: "ban"}
	case models.PassSuperseded:
		if trouble {
			return views.PassMark{Word: "evaluator trouble, set aside", Tone: ui.ToneIdle, Icon: "triangle-alert"}
		}
		return views.PassMark{Word: "set aside", Tone: ui.ToneIdle, Icon: "circle-slash"}
	default:
		return views.PassMark{Word: views.Word(d.Pass.Status), Tone: ui.ToneIdle, Icon: "circle-dashed"}
	}
}

func runRow(r models.Run) views.RunRow {
	return views.RunRow{ID: r.ID, Label: r.Agent.Label(), Runtime: r.Agent.Runtime, Position: r.Position, Try: r.Try, Status: r.Status,
		Exit: r.ExitCode, Took: between(r.StartedAt, r.EndedAt), Tokens: tokens(r.InputTokens, r.OutputTokens), Cost: cost(r.CostUSD),
		Reason: r.Reason, Activity: r.Activity, Started: r.StartedAt}
}

func between(from, to *time.Time) time.Duration {
	if from == nil || to == nil {
		return 0
	}
	return to.Sub(*from)
}

// tokens is "1,204 / 96", "" where none are known.
func tokens(in, out int64) string {
	if in == 0 && out == 0 {
		return ""
	}
	return thousands(in) + " / " + thousands(out)
}

func thousands(n int64) string { return models.Thousands(n) }

func cost(usd float64) string {
	if usd <= 0 {
		return ""
	}
	return models.Dollars(usd)
}

// fingerprintOf names everything a value shows.
func fingerprintOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // view structs of plain values always marshal
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// Bounds of the activity on the plan's page.
const (
	planEvents = 15  // shown
	planLatest = 120 // looked at
)

// news is the newest of what happened, without the moves of passes and runs that
// follow from it, which the timeline shows.
func (b *planBuilder) news(ctx context.Context) (views.ActivityCard, error) {
	card := views.ActivityCard{Now: b.now}
	events, err := b.s.Reader.EventsOf(ctx, b.plan().ID, 0, planLatest)
	if err != nil {
		return card, err
	}
	for _, e := range events {
		noun, _, _ := strings.Cut(e.Kind, ".")
		if noun == "pass" || noun == "run" && e.Kind != "run.stopped" || len(card.Events) == planEvents {
			card.Older = views.PlanActivityPath(b.plan().ID, 0)
			continue
		}
		card.Events = append(card.Events, eventRow(e, b.detail))
	}
	return card, nil
}

// activity is one page of all that happened.
func (b *planBuilder) activity(ctx context.Context, before int64, limit int) (views.ActivityCard, error) {
	card := views.ActivityCard{Now: b.now}
	events, err := b.s.Reader.EventsOf(ctx, b.plan().ID, before, limit+1)
	if err != nil {
		return card, err
	}
	if len(events) > limit {
		events = events[:limit]
		card.Older = views.PlanActivityPath(b.plan().ID, events[limit-1].ID)
	}
	for _, e := range events {
		card.Events = append(card.Events, eventRow(e, b.detail))
	}
	return card, nil
}
