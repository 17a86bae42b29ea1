-- +goose Up
-- Runs that were cancelled and whose end nobody wrote down: a crash left them.
CREATE INDEX runs_cut ON runs (status) WHERE status = 'cancelled' AND ended_at IS NULL AND started_at IS NOT NULL;
