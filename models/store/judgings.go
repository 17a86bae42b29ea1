package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"donewhen/models"
)

// judgedAnswer is what is counted of an answer, judgedResult what of a result.
type judgedAnswer struct {
	Criterion     judgedCriterion `json:"criterion"`
	Evaluator     string          `json:"evaluator"`
	Opinion       int             `json:"opinion"`
	Reasked       bool            `json:"reasked"`
	PromptVersion int             `json:"prompt_version"`
	Verdict       struct {
		Kind models.VerdictKind `json:"kind"`
		Met  bool               `json:"met"`
	} `json:"verdict"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	CostUSD      float64 `json:"cost_usd"`
	Millis       int64   `json:"millis"`
}

type judgedCriterion struct {
	Index int    `json:"index"`
	Level string `json:"level"`
}

func (c judgedCriterion) counts() bool { return c.Level != "info" }

type judgedResult struct {
	Criterion json.RawMessage    `json:"criterion"`
	Status    string             `json:"status"`
	Kind      models.VerdictKind `json:"kind"`
}

// judgingsOf is what is counted of a verdict, for each judge that was asked. What
// cannot be read of answers and results counts nothing.
func judgingsOf(v models.Verdict) []models.Judging {
	var results []judgedResult
	if v.ResultsJSON == "" || json.Unmarshal([]byte(v.ResultsJSON), &results) != nil {
		results = nil
	}
	var answers []judgedAnswer
	if v.AnswersJSON == "" || json.Unmarshal([]byte(v.AnswersJSON), &answers) != nil {
		answers = nil
	}
	byJudge := [][]judgedAnswer{nil}
	for _, a := range answers {
		for a.Opinion >= len(byJudge) && len(byJudge) < models.MaxOpinions {
			byJudge = append(byJudge, nil)
		}
		if a.Opinion >= 0 && a.Opinion < len(byJudge) {
			byJudge[a.Opinion] = append(byJudge[a.Opinion], a)
		}
	}
	out := make([]models.Judging, 0, len(byJudge))
	for n, own := range byJudge {
		if n > 0 && len(own) == 0 {
			continue
		}
		j := models.Judging{
			VerdictID: v.ID, Opinion: n, PassID: v.PassID, PhaseID: v.PhaseID, Evaluator: v.Evaluator, Kind: v.Kind, Met: v.Met, Reused: v.ReusedFrom != nil,
			Millis: v.Millis, EvidenceHash: v.EvidenceHash, AskedHash: askedHash(results, nil), CreatedAt: v.CreatedAt,
		}
		addUp(&j, own)
		if len(byJudge) > 1 {
			ownOpinion(&j, own, results)
		}
		if n > 0 && len(own) < len(byJudge[0]) {
			j.AskedHash = askedHash(results, own)
		}
		out = append(out, j)
	}
	return out
}

// addUp counts a judge's answers.
func addUp(j *models.Judging, own []judgedAnswer) {
	for _, a := range own {
		j.Replies++
		if a.Reasked {
			j.Replies, j.Invalid = j.Replies+1, j.Invalid+1
		}
		switch a.Verdict.Kind {
		case models.VerdictInvalid:
			j.Invalid++
		case models.VerdictTrouble:
			j.Errors++
		}
		if a.Evaluator != "" {
			j.Evaluator = a.Evaluator
		}
		j.PromptVersion = max(j.PromptVersion, a.PromptVersion)
		j.InputTokens, j.OutputTokens, j.CostUSD = j.InputTokens+a.InputTokens, j.OutputTokens+a.OutputTokens, j.CostUSD+a.CostUSD
	}
}

// ownOpinion sets what one of several judges came to: trouble, or whether all it
// was asked about was met. The first one, who is asked about everything, also
// answers for what no judge was asked about.
func ownOpinion(j *models.Judging, own []judgedAnswer, results []judgedResult) {
	j.Kind, j.Met, j.Millis = models.VerdictGiven, true, 0
	for _, a := range own {
		j.Millis += a.Millis
		if !a.Criterion.counts() {
			continue
		}
		j.Met = j.Met && a.Verdict.Met
		if a.Verdict.Kind != models.VerdictGiven && j.Kind == models.VerdictGiven {
			j.Kind = a.Verdict.Kind
		}
	}
	for _, r := range results {
		var c judgedCriterion
		if j.Opinion == 0 && r.Kind == "" && json.Unmarshal(r.Criterion, &c) == nil && c.counts() && r.Status != "passed" {
			j.Met = false
		}
	}
	j.Met = j.Met && j.Kind == models.VerdictGiven
}

// askedHash names the criteria of results, or those among them that were asked about.
func askedHash(results []judgedResult, only []judgedAnswer) string {
	sum, n := sha256.New(), 0
	for _, r := range results {
		var c judgedCriterion
		if only != nil && (json.Unmarshal(r.Criterion, &c) != nil || !slices.ContainsFunc(only, func(a judgedAnswer) bool { return a.Criterion.Index == c.Index })) {
			continue
		}
		fmt.Fprintf(sum, "%d:%s", len(r.Criterion), r.Criterion)
		n++
	}
	if n == 0 {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// JudgeStats reads the judgings since then, the newest limit at most, and which
// of them leads overruled.
func (r Reader) JudgeStats(ctx context.Context, since time.Time, limit int) (stats models.JudgeStats, err error) {
	since = stamp(since)
	err = r.snapshot(ctx, func(r Reader) error {
		if stats.CutAt, err = r.cutAt(ctx, "SELECT created_at FROM judgings WHERE created_at >= ? ORDER BY created_at DESC", since, limit); err != nil {
			return err
		}
		if stats.Judgings, err = rows[models.Judging](r.q(ctx).Where("created_at >= ?", since).Order("created_at DESC, verdict_id DESC, opinion DESC").Limit(limit), "the judgings"); err != nil {
			return err
		}
		if stats.Canaries, err = r.canaryCounts(ctx, since); err != nil {
			return err
		}
		return r.overrulings(ctx, since, limit, &stats)
	})
	return stats, err
}

func (r Reader) overrulings(ctx context.Context, since time.Time, limit int, stats *models.JudgeStats) error {
	var decided []struct {
		Kind      models.DecisionKind
		VerdictID *int64
	}
	if err := r.q(ctx).Raw(decidedAgainstQuery, since, limit).Find(&decided).Error; err != nil {
		return fmt.Errorf("read the decisions on phases: %w", err)
	}
	judged := make(map[int64]models.Judging, len(stats.Judgings)) // the whole verdict: all of its judges said met, or not
	for _, j := range stats.Judgings {
		if all, several := judged[j.VerdictID]; several {
			if j.Kind == models.VerdictGiven {
				j.Kind = all.Kind
			}
			j.Met = j.Met && all.Met
		}
		judged[j.VerdictID] = j
	}
	seen := map[int64]bool{}
	add := func(id int64, against models.Overruled) {
		if !seen[id] {
			seen[id] = true
			stats.Overrulings = append(stats.Overrulings, models.Overruling{VerdictID: id, Against: against})
		}
	}
	for _, d := range decided {
		if d.VerdictID == nil {
			continue
		}
		switch j, known := judged[*d.VerdictID]; {
		case !known || j.Kind != models.VerdictGiven:
		case d.Kind == models.DecisionAccept && !j.Met:
			add(j.VerdictID, models.OverruledAccepted)
		case d.Kind == models.DecisionReject && j.Met:
			add(j.VerdictID, models.OverruledRejected)
		}
	}
	var back []int64 // once for each judge that said met
	if err := r.q(ctx).Raw(sentBackQuery, since, limit).Find(&back).Error; err != nil {
		return fmt.Errorf("read the passes after a met one: %w", err)
	}
	for _, id := range back {
		if judged[id].Met {
			add(id, models.OverruledSentBack)
		}
	}
	return nil
}

// The verdict that a decision was about is the phase's newest one of then.
const decidedAgainstQuery = `SELECT d.kind, (SELECT j.verdict_id FROM judgings j WHERE j.phase_id = d.phase_id AND j.created_at <= d.created_at
		ORDER BY j.created_at DESC, j.verdict_id DESC LIMIT 1) AS verdict_id
	FROM decisions d
	WHERE d.phase_id IS NOT NULL AND d.kind IN ('accept', 'reject') AND d.created_at >= ?
	ORDER BY d.created_at DESC
	LIMIT ?`

// Within an attempt nothing but a person's wish makes a pass after a met one.
const sentBackQuery = `SELECT j.verdict_id
	FROM (SELECT verdict_id, pass_id, met FROM judgings WHERE created_at >= ? ORDER BY created_at DESC LIMIT ?) j
	JOIN passes p ON p.id = j.pass_id
	JOIN passes n ON n.phase_id = p.phase_id AND n.attempt = p.attempt AND n.iteration = p.iteration + 1
	WHERE j.met`
