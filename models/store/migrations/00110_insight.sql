-- +goose Up
-- Insight and "what ended lately" read a range of time, not the history. The
-- passes' index has all that is counted, so that their long texts are not read.
CREATE INDEX passes_ended ON passes (ended_at, phase_id, status, iteration) WHERE ended_at IS NOT NULL;
CREATE INDEX runs_ended ON runs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX verdicts_not_met ON verdicts (created_at) WHERE kind = 'verdict' AND NOT met;
