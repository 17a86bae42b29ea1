package store

import (
	"encoding/json"
	"fmt"
	"time"

	"donewhen/models"
)

// columns is an explicit list of what an UPDATE writes, so that a zero value is
// written like any other.
type columns struct {
	names  []string
	values []any
}

func (c *columns) put(name string, value any) {
	c.names = append(c.names, name)
	c.values = append(c.values, value)
}

// opt adds a column when there is a value for it.
func opt[T any](c *columns, name string, v *T) {
	if v != nil {
		c.put(name, *v)
	}
}

func optTime(c *columns, name string, t *time.Time) {
	if t != nil {
		c.put(name, stamp(*t))
	}
}

func (s PlanSet) columns() (columns, error) {
	var c columns
	opt(&c, "title", s.Title)
	opt(&c, "goal", s.Goal)
	opt(&c, "base_commit", s.BaseCommit)
	opt(&c, "work_commit", s.WorkCommit)
	opt(&c, "work_tree", s.WorkTree)
	if s.Unrecorded != nil {
		text, err := json.Marshal(*s.Unrecorded)
		if err != nil {
			return c, fmt.Errorf("encode the files that could not be recorded: %w", err)
		}
		c.put("unrecorded", string(text))
	}
	optTime(&c, "started_at", s.StartedAt)
	if s.ClearEnded {
		c.put("ended_at", nil)
	} else {
		optTime(&c, "ended_at", s.EndedAt)
	}
	optTime(&c, "cleaned_at", s.CleanedAt)
	opt(&c, "dod_source", s.DodSource)
	opt(&c, "dod_text", s.DodText)
	opt(&c, "criteria_json", s.CriteriaJSON)
	if s.DodArgs != nil {
		text, err := json.Marshal(*s.DodArgs)
		if err != nil {
			return c, fmt.Errorf("encode the arguments: %w", err)
		}
		c.put("dod_args", string(text))
	}
	opt(&c, "template_version_id", s.TemplateVersionID)
	if s.DodOpinions != nil {
		c.put("dod_opinions", models.ClampOpinions(*s.DodOpinions))
	}
	if s.NoTemplate {
		c.put("template_version_id", nil)
	}
	if b := s.Budget; b != nil {
		c.put("budget_runs", b.Runs)
		c.put("budget_minutes", b.Minutes)
		c.put("budget_tokens", b.Tokens)
		c.put("budget_usd", b.USD)
	}
	return c, nil
}

func (s PhaseSet) columns() columns {
	var c columns
	opt(&c, "attempt", s.Attempt)
	opt(&c, "iteration", s.Iteration)
	if s.MaxIterations != nil {
		c.put("max_iterations", models.ClampIterations(*s.MaxIterations))
	}
	if s.Opinions != nil {
		c.put("opinions", models.ClampOpinions(*s.Opinions))
	}
	opt(&c, "pass_id", s.PassID)
	opt(&c, "reason", s.Reason)
	opt(&c, "feedback", s.Feedback)
	opt(&c, "note", s.Note)
	opt(&c, "start_commit", s.StartCommit)
	opt(&c, "restore_to", s.RestoreTo)
	opt(&c, "done_when", s.DoneWhen)
	opt(&c, "overridden", s.Overridden)
	if s.NoDue {
		c.put("due_at", nil)
	} else {
		optTime(&c, "due_at", s.DueAt)
	}
	return c
}

func (s PassSet) columns() columns {
	var c columns
	opt(&c, "task_text", s.TaskText)
	opt(&c, "note", s.Note)
	opt(&c, "start_commit", s.StartCommit)
	opt(&c, "end_commit", s.EndCommit)
	opt(&c, "end_tree", s.EndTree)
	opt(&c, "evidence_hash", s.EvidenceHash)
	opt(&c, "reason", s.Reason)
	opt(&c, "claimed_by", s.ClaimedBy)
	opt(&c, "judge_tries", s.JudgeTries)
	if s.NoQuotaWait {
		c.put("quota_since", nil)
	} else {
		optTime(&c, "quota_since", s.QuotaSince)
	}
	optTime(&c, "started_at", s.StartedAt)
	optTime(&c, "ended_at", s.EndedAt)
	return c
}

func (s RunSet) columns() columns {
	var c columns
	opt(&c, "exit_code", s.ExitCode)
	opt(&c, "pid", s.Pid)
	opt(&c, "pid_start", s.PidStart)
	opt(&c, "final_message", s.FinalMessage)
	opt(&c, "activity", s.Activity)
	opt(&c, "reason", s.Reason)
	opt(&c, "commit", s.Commit)
	opt(&c, "tree", s.Tree)
	opt(&c, "input_tokens", s.InputTokens)
	opt(&c, "output_tokens", s.OutputTokens)
	opt(&c, "cost_usd", s.CostUSD)
	opt(&c, "log_bytes", s.LogBytes)
	opt(&c, "log_cut", s.LogCut)
	opt(&c, "stopped", s.Stopped)
	opt(&c, "stopped_by", s.StoppedBy)
	optTime(&c, "started_at", s.StartedAt)
	optTime(&c, "ended_at", s.EndedAt)
	return c
}

func (s EvaluationSet) columns() columns {
	var c columns
	opt(&c, "fingerprint", s.Fingerprint)
	opt(&c, "parts_json", s.PartsJSON)
	opt(&c, "evaluator", s.Evaluator)
	opt(&c, "summary_json", s.SummaryJSON)
	opt(&c, "answers_json", s.AnswersJSON)
	opt(&c, "flags_json", s.FlagsJSON)
	opt(&c, "error", s.Error)
	opt(&c, "stopped_by", s.StoppedBy)
	opt(&c, "over_budget", s.OverBudget)
	optTime(&c, "started_at", s.StartedAt)
	optTime(&c, "ended_at", s.EndedAt)
	return c
}

func (s ApplySet) columns() columns {
	var c columns
	opt(&c, "old_target", s.OldTarget)
	opt(&c, "merge_commit", s.MergeCommit)
	opt(&c, "message", s.Message)
	opt(&c, "reason", s.Reason)
	opt(&c, "files_json", s.FilesJSON)
	optTime(&c, "ended_at", s.EndedAt)
	return c
}
