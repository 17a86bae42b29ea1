-- +goose Up
-- Planted passes that were given to judges, with all that was asked and answered.
CREATE TABLE canaries (
    id             INTEGER   NOT NULL PRIMARY KEY,
    evaluator      TEXT      NOT NULL,
    kind           TEXT      NOT NULL,
    outcome        TEXT      NOT NULL CHECK (outcome IN ('asked', 'caught', 'missed', 'trouble')),
    reason         TEXT      NOT NULL,
    prompt_version INTEGER   NOT NULL,
    answer_json    TEXT      NOT NULL,
    input_tokens   BIGINT    NOT NULL,
    output_tokens  BIGINT    NOT NULL,
    cost_usd       DOUBLE PRECISION NOT NULL,
    millis         BIGINT    NOT NULL,
    asked_by       INTEGER   NOT NULL, -- 0 = the server itself
    asker_name     TEXT      NOT NULL,
    created_at     TIMESTAMP NOT NULL,
    ended_at       TIMESTAMP
);

CREATE INDEX canaries_created ON canaries (created_at);
-- A judge has one planted pass before it at a time.
CREATE UNIQUE INDEX canaries_asked ON canaries (evaluator) WHERE outcome = 'asked';

-- What is kept of each judge: how often it judged (while planted passes are
-- switched on), how many it was given, and the one it missed, until a lead clears it.
CREATE TABLE judges (
    evaluator     TEXT      NOT NULL PRIMARY KEY,
    asked         BIGINT    NOT NULL,
    given         BIGINT    NOT NULL,
    missed_canary INTEGER   REFERENCES canaries (id),
    distrusted_at TIMESTAMP,
    CHECK ((missed_canary IS NULL) = (distrusted_at IS NULL))
);

-- The judges among those that gave it that were not trusted then, with ", " between them.
ALTER TABLE verdicts ADD COLUMN distrusted TEXT NOT NULL DEFAULT '';
