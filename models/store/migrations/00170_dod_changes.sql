-- +goose Up
-- What a started plan's definition of done asked for and asks for no more, with
-- who took it out and why. The gate names it until the plan is over.
CREATE TABLE dod_changes (
    id           INTEGER   NOT NULL PRIMARY KEY,
    plan_id      TEXT      NOT NULL REFERENCES plans (id),
    dropped_json TEXT      NOT NULL,
    reason       TEXT      NOT NULL CHECK (reason <> ''),
    user_id      INTEGER   NOT NULL,
    user_name    TEXT      NOT NULL,
    created_at   TIMESTAMP NOT NULL
);

CREATE INDEX dod_changes_plan ON dod_changes (plan_id, id);
