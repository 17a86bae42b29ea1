package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"donewhen/models"
)

// judgingOf is what is counted of a verdict. Answers and results that cannot be
// read count nothing.
func judgingOf(v models.Verdict) models.Judging {
	j := models.Judging{
		VerdictID: v.ID, PassID: v.PassID, PhaseID: v.PhaseID, Evaluator: v.Evaluator, Kind: v.Kind, Met: v.Met, Reused: v.ReusedFrom != nil,
		Millis: v.Millis, EvidenceHash: v.EvidenceHash, CreatedAt: v.CreatedAt,
	}
	var answers []struct {
		Reasked       bool `json:"reasked"`
		PromptVersion int  `json:"prompt_version"`
		Verdict       struct {
			Kind models.VerdictKind `json:"kind"`
		} `json:"verdict"`
		InputTokens  int64   `json:"input_tokens"`
		OutputTokens int64   `json:"output_tokens"`
		CostUSD      float64 `json:"cost_usd"`
	}
	if v.AnswersJSON != "" && json.Unmarshal([]byte(v.AnswersJSON), &answers) == nil {
		for _, a := range answers {
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
			j.PromptVersion = max(j.PromptVersion, a.PromptVersion)
			j.InputTokens, j.OutputTokens, j.CostUSD = j.InputTokens+a.InputTokens, j.OutputTokens+a.OutputTokens, j.CostUSD+a.CostUSD
		}
	}
	var results []struct {
		Criterion json.RawMessage `json:"criterion"`
	}
	if v.ResultsJSON != "" && json.Unmarshal([]byte(v.ResultsJSON), &results) == nil && len(results) > 0 {
		sum := sha256.New()
		for _, r := range results {
			fmt.Fprintf(sum, "%d:%s", len(r.Criterion), r.Criterion)
		}
		j.AskedHash = hex.EncodeToString(sum.Sum(nil)[:8])
	}
	return j
}

// JudgeStats reads the judgings since then, the newest limit at most, and which
// of them leads overruled.
func (r Reader) JudgeStats(ctx context.Context, since time.Time, limit int) (stats models.JudgeStats, err error) {
	since = stamp(since)
	err = r.snapshot(ctx, func(r Reader) error {
		if stats.CutAt, err = r.cutAt(ctx, "SELECT created_at FROM judgings WHERE created_at >= ? ORDER BY created_at DESC", since, limit); err != nil {
			return err
		}
		if stats.Judgings, err = rows[models.Judging](r.q(ctx).Where("created_at >= ?", since).Order("created_at DESC").Limit(limit), "the judgings"); err != nil {
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
	judged := make(map[int64]models.Judging, len(stats.Judgings))
	for _, j := range stats.Judgings {
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
	var back []int64
	if err := r.q(ctx).Raw(sentBackQuery, since, limit).Find(&back).Error; err != nil {
		return fmt.Errorf("read the passes after a met one: %w", err)
	}
	for _, id := range back {
		if _, known := judged[id]; known {
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
