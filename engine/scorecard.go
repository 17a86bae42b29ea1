package engine

import (
	"cmp"
	"slices"
	"time"

	"donewhen/models"
)

// JudgeScore is how one evaluator did with one wording of its questions.
type JudgeScore struct {
	Evaluator     string
	PromptVersion int // 0 = it asks no questions, or it is not known
	Judgings      int // verdicts and troubles
	Verdicts      int // of them, judgements in the agreed form
	Met           int // of the verdicts
	Replies       int // questions put, second ones included
	Invalid       int // of the replies, those not in the agreed form
	Errors        int // judgings that came to nothing because nobody could be asked
	Median        time.Duration
	InputTokens   int64
	OutputTokens  int64
	CostUSD       float64

	Accepted int // not met, and accepted as it is by a lead
	Rejected int // met, and rejected
	SentBack int // met, and given another pass

	Caught int // planted passes it called not met
	Missed int // and those it called met

	Rejudged int // verdicts on the same evidence and criteria as one before them
	Flipped  int // of those, the ones that said the opposite
}

// Overruled is how many verdicts leads decided against.
func (s JudgeScore) Overruled() int { return s.Accepted + s.Rejected + s.SentBack }

// Scorecard adds up judgings by evaluator and wording, the one that judged most
// first. A verdict that repeats an older one, one that a failed run decided, and
// one in which a check decided before a model was asked, are nobody's judgings.
// Where several judges were asked about a pass, each is counted with what it said.
func Scorecard(stats models.JudgeStats) []JudgeScore {
	type key struct {
		evaluator string
		version   int
	}
	type same struct {
		key
		pass            int64
		evidence, asked string
	}
	scores, millis, of := map[key]*JudgeScore{}, map[key][]int64{}, map[int64][]models.Judging{}
	last := map[same]bool{}
	for _, j := range slices.Backward(stats.Judgings) { // oldest first
		k := key{j.Evaluator, j.PromptVersion}
		of[j.VerdictID] = append(of[j.VerdictID], j)
		if j.Kind == models.VerdictRun || j.Reused || j.Evaluator != "text" && j.Replies == 0 && j.Kind == models.VerdictGiven {
			continue
		}
		s := scores[k]
		if s == nil {
			s = &JudgeScore{Evaluator: k.evaluator, PromptVersion: k.version}
			scores[k] = s
		}
		s.Judgings++
		s.Replies, s.Invalid = s.Replies+j.Replies, s.Invalid+j.Invalid
		s.InputTokens, s.OutputTokens, s.CostUSD = s.InputTokens+j.InputTokens, s.OutputTokens+j.OutputTokens, s.CostUSD+j.CostUSD
		millis[k] = append(millis[k], j.Millis)
		switch j.Kind {
		case models.VerdictTrouble:
			s.Errors++
		case models.VerdictGiven:
			s.Verdicts++
			if j.Met {
				s.Met++
			}
			if j.EvidenceHash == "" || j.AskedHash == "" {
				continue
			}
			about := same{k, j.PassID, j.EvidenceHash, j.AskedHash}
			if before, again := last[about]; again {
				s.Rejudged++
				if before != j.Met {
					s.Flipped++
				}
			}
			last[about] = j.Met
		}
	}
	for _, o := range stats.Overrulings {
		for _, j := range of[o.VerdictID] { // of several judges, those that had said what the lead did not take
			s := scores[key{j.Evaluator, j.PromptVersion}]
			switch {
			case s == nil || j.Kind != models.VerdictGiven || j.Met == (o.Against == models.OverruledAccepted):
			case o.Against == models.OverruledAccepted:
				s.Accepted++
			case o.Against == models.OverruledRejected:
				s.Rejected++
			case o.Against == models.OverruledSentBack:
				s.SentBack++
			}
		}
	}
	for _, c := range stats.Canaries {
		if c.Outcome != models.CanaryCaught && c.Outcome != models.CanaryMissed {
			continue
		}
		k := key{c.Evaluator, c.PromptVersion}
		if scores[k] == nil {
			scores[k] = &JudgeScore{Evaluator: k.evaluator, PromptVersion: k.version}
		}
		if c.Outcome == models.CanaryCaught {
			scores[k].Caught += c.Count
		} else {
			scores[k].Missed += c.Count
		}
	}
	out := make([]JudgeScore, 0, len(scores))
	for k, s := range scores {
		s.Median = time.Duration(median(millis[k])) * time.Millisecond
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b JudgeScore) int {
		return cmp.Or(cmp.Compare(b.Judgings, a.Judgings), cmp.Compare(a.Evaluator, b.Evaluator), cmp.Compare(b.PromptVersion, a.PromptVersion))
	})
	return out
}

// median is the middle one, of an even number the lower of the two in the middle.
func median(list []int64) int64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[(len(list)-1)/2]
}
