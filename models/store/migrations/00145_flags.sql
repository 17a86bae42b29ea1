-- +goose Up
-- Where the evidence of a verdict talks to its judge, a few bounded lines; '' when it does not.
ALTER TABLE verdicts ADD COLUMN flags_json TEXT NOT NULL DEFAULT '';
