-- +goose Up
-- From where a phase's work is looked at. It is the phase's start, until an earlier
-- phase runs again: then the phase starts anew on a tree that holds its own work.
ALTER TABLE phases ADD COLUMN evidence_from TEXT NOT NULL DEFAULT '';
UPDATE phases SET evidence_from = start_commit;
