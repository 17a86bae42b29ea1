package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

// verdictBefore is the newest verdict of the decided pass before in the same
// attempt, nil when there is none.
func verdictBefore(ctx context.Context, r *store.Reader, pass models.Pass) (*models.Verdict, error) {
	before, err := r.PassBefore(ctx, pass)
	if err != nil || before == nil {
		return nil, err
	}
	return r.LatestVerdict(ctx, before.ID)
}

// sameAsBefore says whether a verdict's tree and results equal those of the
// pass before, so that a further pass could not be expected to do better.
func sameAsBefore(ctx context.Context, r *store.Reader, pass models.Pass, v models.Verdict) (bool, error) {
	old, err := verdictBefore(ctx, r, pass)
	if err != nil || old == nil {
		return false, err
	}
	return old.Tree == v.Tree && old.Kind == v.Kind && sameResults(*old, v), nil
}

// sameResults compares statuses, and the reasons of deterministic checks with
// times left out; a judge words the same finding differently each time.
func sameResults(a, b models.Verdict) bool {
	ra, rb := Results(a), Results(b)
	if len(ra) != len(rb) {
		return false
	}
	if len(ra) == 0 {
		return withoutTimes(a.Reason) == withoutTimes(b.Reason)
	}
	for i := range ra {
		if ra[i].Criterion != rb[i].Criterion || ra[i].Status != rb[i].Status {
			return false
		}
		if ra[i].Kind == "" && withoutTimes(ra[i].Reasoning) != withoutTimes(rb[i].Reasoning) {
			return false
		}
	}
	return true
}

// Results decodes a verdict's results; a row that cannot be read has none.
func Results(v models.Verdict) []dod.Result {
	var out []dod.Result
	if v.ResultsJSON == "" || json.Unmarshal([]byte(v.ResultsJSON), &out) != nil {
		return nil
	}
	return out
}

// Answers decodes what was asked and answered for a verdict.
func Answers(v models.Verdict) []dod.Answer {
	var out []dod.Answer
	if v.AnswersJSON == "" || json.Unmarshal([]byte(v.AnswersJSON), &out) != nil {
		return nil
	}
	return out
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values of ours always marshal
	}
	return string(b)
}

func joinSome(files []string) string {
	if len(files) > 10 {
		return strings.Join(files[:10], ", ") + fmt.Sprintf(" and %d more", len(files)-10)
	}
	return strings.Join(files, ", ")
}
