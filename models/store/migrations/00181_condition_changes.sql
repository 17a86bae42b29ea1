-- +goose Up
-- What was taken out of a phase's condition stands beside what was taken out of
-- the plan's definition of done, which has no phase.
ALTER TABLE dod_changes ADD COLUMN phase_id INTEGER REFERENCES phases (id);
