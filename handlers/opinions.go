package handlers

import (
	"fmt"
	"strconv"
	"strings"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// opinionRows are what several judges said, each with its reason.
func opinionRows(opinions []dod.Opinion) []views.OpinionRow {
	rows := make([]views.OpinionRow, len(opinions))
	for i, o := range opinions {
		row := views.OpinionRow{Who: o.Evaluator, Word: "not met", Tone: ui.ToneBad}
		switch {
		case o.Kind != dod.KindVerdict:
			row.Word, row.Tone = views.Word(string(o.Kind)), ui.ToneWarn
		case o.Met:
			row.Word, row.Tone = "met", ui.ToneOK
		}
		row.Reason, _ = cutText(o.Reason, maxReasoning)
		rows[i] = row
	}
	return rows
}

// opinionsField offers one to three judges. panel names who is asked for a
// number of opinions; about says what they are asked about. Nothing is offered
// where nobody is asked.
func opinionsField(panel func(n int) []string, about string) views.OpinionsField {
	f := views.OpinionsField{Hint: "Asked about " + about + ". Each further judge is only asked about what those before call met, and only a unanimous met counts."}
	if len(panel(1)) == 0 {
		return f
	}
	for n := models.MinOpinions; n <= models.MaxOpinions; n++ {
		f.Options = append(f.Options, ui.Option{Value: strconv.Itoa(n), Label: judgeCount(n) + ": " + panelWords(panel(n))})
	}
	return f
}

func judgeCount(n int) string {
	if n == 1 {
		return "1 judge"
	}
	return strconv.Itoa(n) + " judges"
}

// panelWords is "a, then b, then a again".
func panelWords(names []string) string {
	said := map[string]bool{}
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = name
		if said[name] {
			words[i] += " again"
		}
		said[name] = true
	}
	return strings.Join(words, ", then ")
}

// templatePanel says what a template's number of judges means here.
func templatePanel(panel func(n int) []string, n int) string {
	who := panelWords(panel(n))
	if who == "" {
		return fmt.Sprintf("The template asks for %d judges on its lines with -> judge, and none is configured here.", n)
	}
	return fmt.Sprintf("The template asks for %d judges on its lines with -> judge: %s. Only a unanimous met counts.", n, who)
}

// withOpinions puts the number of judges into the form that edits a phase's
// condition, where somebody is asked at all.
func (b *planBuilder) withOpinions(verbs []views.Verb, ph models.Phase) []views.Verb {
	key := phaseKey(ph.ID, views.VerbCondition)
	f := opinionsField(b.s.Engine.JudgePanel, aboutPhase)
	for i := range verbs {
		if verbs[i].Key == key && len(f.Options) > 0 {
			verbs[i].Fields = append(verbs[i].Fields, views.VerbField{Kind: views.VerbChoice,
				FieldProps: f.Field("opinions", key+"-opinions", "Judges", strconv.Itoa(ph.Opinions), "")})
		}
	}
	return verbs
}

// What the judges are asked about.
const (
	aboutPhase    = "the condition's lines in plain words"
	aboutTemplate = "lines with -> judge"
)
