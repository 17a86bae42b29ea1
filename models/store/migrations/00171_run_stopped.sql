-- +goose Up
-- The server was stopped in good order while it ran: such a try does not count.
ALTER TABLE runs ADD COLUMN stopped BOOLEAN NOT NULL DEFAULT 0;
