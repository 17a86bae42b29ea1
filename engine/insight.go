package engine

import (
	"cmp"
	"encoding/json"
	"slices"

	"donewhen/dod"
	"donewhen/models"
)

// CriterionFailures is how often one criterion was the one that failed.
type CriterionFailures struct {
	Text   string   // the criterion, or its check where it has no words
	Failed int      // verdicts in which it failed
	Plans  []string // ids of the plans it failed in, newest verdict first, each once
}

// FailingCriteria counts the criteria that failed in verdicts, the most failing
// first. Criteria with the same words are the same one. Skipped ones do not
// count: nobody knows about them. Results that cannot be read are left out.
func FailingCriteria(verdicts []models.NotMetVerdict) []CriterionFailures {
	type place struct{ text, plan string }
	byText, seen := map[string]*CriterionFailures{}, map[place]bool{}
	for _, v := range verdicts {
		var results []failedResult // a part of dod.Result: whole ones of thousands of verdicts take ten times as long
		if json.Unmarshal([]byte(v.ResultsJSON), &results) != nil {
			continue
		}
		for _, r := range results {
			if r.Status != dod.Failed || r.Criterion.Level == dod.Info {
				continue
			}
			text := cmp.Or(r.Criterion.Text, r.Criterion.Check)
			f := byText[text]
			if f == nil {
				f = &CriterionFailures{Text: text}
				byText[text] = f
			}
			f.Failed++
			if at := (place{text, v.PlanID}); !seen[at] {
				seen[at] = true
				f.Plans = append(f.Plans, v.PlanID)
			}
		}
	}
	out := make([]CriterionFailures, 0, len(byText))
	for _, f := range byText {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b CriterionFailures) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), cmp.Compare(a.Text, b.Text))
	})
	return out
}

type failedResult struct {
	Criterion struct {
		Text  string    `json:"text"`
		Check string    `json:"check"`
		Level dod.Level `json:"level"`
	} `json:"criterion"`
	Status dod.Status `json:"status"`
}
