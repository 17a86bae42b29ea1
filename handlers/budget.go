package handlers

import (
	"context"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// limits are a budget's limits in the order of the forms.
var limits = []models.Limit{models.LimitRuns, models.LimitMinutes, models.LimitTokens, models.LimitUSD}

// limitName is the form field of a limit, as the engine names it in its errors.
func limitName(l models.Limit) string { return "budget_" + string(l) }

// typedLimits are the limits as they stand in a posted form.
func typedLimits(c echo.Context) map[models.Limit]string {
	out := map[models.Limit]string{}
	for _, l := range limits {
		out[l] = field(c, limitName(l))
	}
	return out
}

// limitTexts is a budget the way parseBudget reads it.
func limitTexts(b models.Budget) map[models.Limit]string {
	out := map[models.Limit]string{}
	for l, n := range map[models.Limit]int64{models.LimitRuns: b.Runs, models.LimitMinutes: b.Minutes, models.LimitTokens: b.Tokens} {
		if n != 0 {
			out[l] = strconv.FormatInt(n, 10)
		}
	}
	if b.USD != 0 {
		out[models.LimitUSD] = strconv.FormatFloat(b.USD, 'f', -1, 64)
		if cents := strconv.FormatFloat(b.USD, 'f', 2, 64); math.Abs(b.USD*100-math.Round(b.USD*100)) < 1e-9 {
			out[models.LimitUSD] = cents
		}
	}
	return out
}

// A number as typed: grouped by commas, blanks or underscores, or not at all.
var (
	wholeNumber = regexp.MustCompile(`^[+-]?(\d+|\d{1,3}([ ,_\x{a0}\x{202f}]\d{3})+)$`)
	moneySum    = regexp.MustCompile(`^[+-]?(\d+|\d{1,3}([ ,_\x{a0}\x{202f}]\d{3})+|)(\.\d*)?$`)
	groupSigns  = strings.NewReplacer(" ", "", ",", "", "_", "", "\u00a0", "", "\u202f", "")
)

// parseBudget reads limits as typed; an empty one is none. problems are messages
// by field for what is no number; what is too large or negative is for the engine
// to say.
func parseBudget(typed map[models.Limit]string) (b models.Budget, problems map[string]string) {
	problems = map[string]string{}
	for l, into := range map[models.Limit]*int64{models.LimitRuns: &b.Runs, models.LimitMinutes: &b.Minutes, models.LimitTokens: &b.Tokens} {
		text := strings.TrimSpace(typed[l])
		if text == "" {
			continue
		}
		if !wholeNumber.MatchString(text) {
			problems[limitName(l)] = "Write a whole number such as 50 or 100,000, or leave it empty for no limit."
			continue
		}
		n, err := strconv.ParseInt(groupSigns.Replace(text), 10, 64)
		if errors.Is(err, strconv.ErrRange) && strings.HasPrefix(text, "-") {
			n = math.MinInt64
		} else if err != nil {
			n = math.MaxInt64
		}
		*into = n
	}
	text := strings.TrimSpace(typed[models.LimitUSD])
	bare := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, "$"), "$"))
	switch n, err := strconv.ParseFloat(groupSigns.Replace(bare), 64); {
	case text == "":
	case !moneySum.MatchString(bare) || err != nil && !errors.Is(err, strconv.ErrRange):
		problems[limitName(models.LimitUSD)] = "Write a sum such as 5 or 2.50, or leave it empty for no limit."
	default:
		b.USD = n // out of range it is infinite
	}
	return b, problems
}

// limitHints say what a limit is about.
var limitHints = map[models.Limit]string{
	models.LimitRuns:    "Agents started, second tries included.",
	models.LimitMinutes: "Of agents at work, all runs together.",
	models.LimitTokens:  "Read and written, by agents and by judges.",
	models.LimitUSD:     "Of agents and judges, as far as they say what they cost.",
}

// limitForm is the four limits for the new-plan form.
func limitForm(typed map[models.Limit]string, messages map[string]string) views.LimitForm {
	f := views.LimitForm{Note: "none"}
	for _, l := range limits {
		p := limitField(l, typed[l])
		p.Error = messages[p.Name]
		f.Open = f.Open || p.Error != "" || strings.TrimSpace(p.Value) != ""
		f.Fields = append(f.Fields, p)
	}
	if b, problems := parseBudget(typed); len(problems) == 0 && len(b.Problems()) == 0 && b != (models.Budget{}) {
		f.Note = b.String()
	} else if f.Open {
		f.Note = ""
	}
	return f
}

func limitField(l models.Limit, value string) ui.FieldProps {
	mode := "numeric"
	if l == models.LimitUSD {
		mode = "decimal"
	}
	return ui.FieldProps{Name: limitName(l), Label: views.LimitLabel(l), Optional: true, Value: value, Hint: limitHints[l], Placeholder: "no limit",
		Autocomplete: "off", Attrs: templ.Attributes{"inputmode": mode}}
}

// budgetVerb is the form that replaces a plan's limits. key names it where it
// stands; shown is the key of the form that shows a refusal.
func budgetVerb(p models.Plan, u models.Usage, key, shown string) views.Verb {
	v := views.Verb{Key: key, Label: "Set limits", Submit: "Set limits", Icon: "gauge", Small: true, Columns: true, Action: views.PlanVerbPath(p.ID, views.VerbBudget),
		Hidden: [][2]string{{"key", shown}}, Body: "An empty field is no limit. What is at work is let finish."}
	if p.Budget != (models.Budget{}) {
		v.Label, v.Submit = "Change limits", "Change limits"
	}
	typed := limitTexts(p.Budget)
	for _, m := range p.Budget.Meters(u) {
		f := limitField(m.Limit, typed[m.Limit])
		f.ID, f.Optional, f.Hint = key+"-"+string(m.Limit), false, m.Spent+" so far."
		v.Fields = append(v.Fields, views.VerbField{Kind: views.VerbNumber, FieldProps: f})
	}
	why := textField(key, "reason", "Reason", "Stays in the activity.", false)
	v.Fields = append(v.Fields, why)
	return v
}

// raiseVerb is budgetVerb for what the budget has stopped.
func raiseVerb(p models.Plan, u models.Usage, key, shown string) views.Verb {
	v := budgetVerb(p, u, key, shown)
	v.Label, v.Submit = "Raise the budget", "Raise the budget"
	v.Body = "It goes on by itself where it stopped: what was done is not repeated. An empty field is no limit."
	return v
}

const budgetKey = "budget-set" // of the form on the plan's card

// budget is the plan's budget card.
func (b *planBuilder) budget() views.BudgetCard {
	p := b.plan()
	c := views.BudgetCard{PlanID: p.ID, Limited: p.Budget != (models.Budget{}), Working: b.usage.Working, Nothing: b.usage == (models.Usage{}), Stopped: overBudget(b.detail)}
	for _, m := range p.Budget.Meters(b.usage) {
		row := views.BudgetMeter{Limit: m.Limit, Label: views.LimitLabel(m.Limit), Used: used(m), Full: m.Full()}
		row.Last = row.Full && c.Working && !c.Stopped
		if m.Max > 0 {
			row.Part = min(100, 100*m.Used/m.Max)
			row.Near = row.Part >= 80
			row.Of = "of " + ofLimit(m)
		}
		if m.Limit == models.LimitUSD {
			row.Label = "Money"
		}
		c.Meters = append(c.Meters, row)
	}
	if !p.Status.Over() {
		c.Over = p.Budget.UsedUp(b.usage, models.SpendsRun)
	}
	if b.role.Can(lead) && !p.Status.Over() && p.Status != models.PlanApplying {
		v := budgetVerb(p, b.usage, budgetKey, budgetKey)
		if c.Stopped {
			v = raiseVerb(p, b.usage, budgetKey, budgetKey)
		}
		c.Verbs = b.verbs([]views.Verb{v})
	}
	return c
}

// used is the figure of a meter alone.
func used(m models.Meter) string {
	if m.Limit == models.LimitUSD {
		return models.Dollars(m.Used)
	}
	return models.Thousands(int64(m.Used))
}

func ofLimit(m models.Meter) string {
	if m.Limit == models.LimitUSD {
		return models.Dollars(m.Max)
	}
	return models.Thousands(int64(m.Max))
}

// overBudget says whether something of the plan waits for a larger budget.
func overBudget(d models.PlanDetail) bool {
	for _, ph := range d.Phases {
		if ph.Phase.OverBudget {
			return true
		}
	}
	return d.Plan.Status == models.PlanFinished && d.Evaluation != nil && d.Evaluation.OverBudget
}

// POST /plans/:id/budget
func (s *Server) setBudget(c echo.Context) error {
	return s.doPlan(c, views.VerbBudget, "The limits are set. Whatever the old ones had stopped goes on by itself.", func(ctx context.Context, a models.Actor, id string) error {
		b, problems := parseBudget(typedLimits(c))
		if len(problems) > 0 {
			return &models.Error{Code: models.CodeInvalid, Message: "The budget was not changed: please mend the marked field.", Fields: problems}
		}
		return s.Engine.SetBudget(ctx, a, id, b, reason(c))
	})
}

// budgetPart is versioned by what it shows: minutes go by without an event.
func (s *Server) budgetPart(c echo.Context, id string) error {
	b, err := s.planBuilder(c, id, nil)
	if err != nil {
		return err
	}
	card := b.budget()
	return s.versioned(c, "budget-"+fingerprintOf(card), func() (templ.Component, error) { return views.BudgetPart(card), nil })
}
