-- +goose Up
-- The audit log. It refers to rows by number only, without foreign keys: it
-- must be able to tell of anything, and it is never rewritten.
CREATE TABLE events (
    id         INTEGER   NOT NULL PRIMARY KEY,
    plan_id    TEXT      NOT NULL,
    phase_id   INTEGER,
    pass_id    INTEGER,
    run_id     INTEGER,
    kind       TEXT      NOT NULL CHECK (kind <> ''),
    "from"     TEXT      NOT NULL,
    "to"       TEXT      NOT NULL,
    actor_id   INTEGER   NOT NULL,
    actor      TEXT      NOT NULL,
    reason     TEXT      NOT NULL,
    created_at TIMESTAMP NOT NULL
);

CREATE INDEX events_plan ON events (plan_id, id);

-- +goose StatementBegin
CREATE TRIGGER events_keep BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER events_stay BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd
