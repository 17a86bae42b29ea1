-- +goose Up
-- Who ended a run that was at work: such a try does not count.
ALTER TABLE runs ADD COLUMN stopped_by TEXT NOT NULL DEFAULT '';
