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

// fingerprintOf names everything a value shows.
func fingerprintOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // view structs of plain values always marshal
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
