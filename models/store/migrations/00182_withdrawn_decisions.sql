-- +goose Up
-- A waiver that a person took back counts nowhere, not even for what was evaluated then.
ALTER TABLE decisions ADD COLUMN withdrawn BOOLEAN NOT NULL DEFAULT 0;
