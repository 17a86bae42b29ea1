-- +goose Up
-- Who stopped an evaluation: it ends without a result.
ALTER TABLE evaluations ADD COLUMN stopped_by TEXT NOT NULL DEFAULT '';
