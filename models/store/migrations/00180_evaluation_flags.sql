-- +goose Up
-- Where the evidence of an evaluation talks to its judge, as verdicts have it.
ALTER TABLE evaluations ADD COLUMN flags_json TEXT NOT NULL DEFAULT '';
