-- +goose Up
-- What a completed phase produced, put together from the evidence of its pass,
-- with the prose of a summariser where one is configured. Nothing that decides
-- reads it. due_at is NULL when nothing is left to do.
CREATE TABLE phase_summaries (
    pass_id       INTEGER   NOT NULL PRIMARY KEY REFERENCES passes (id),
    phase_id      INTEGER   NOT NULL REFERENCES phases (id),
    plan_id       TEXT      NOT NULL REFERENCES plans (id),
    facts_json    TEXT      NOT NULL,
    evidence_hash TEXT      NOT NULL,
    verdict_id    INTEGER   REFERENCES verdicts (id),
    evaluator     TEXT      NOT NULL,
    model         TEXT      NOT NULL,
    system        TEXT      NOT NULL,
    prompt        TEXT      NOT NULL,
    raw           TEXT      NOT NULL,
    prose         TEXT      NOT NULL,
    input_tokens  BIGINT    NOT NULL,
    output_tokens BIGINT    NOT NULL,
    cost_usd      DOUBLE PRECISION NOT NULL,
    tries         INTEGER   NOT NULL CHECK (tries BETWEEN 0 AND 3),
    trouble       TEXT      NOT NULL,
    due_at        TIMESTAMP,
    created_at    TIMESTAMP NOT NULL
);

CREATE INDEX phase_summaries_due ON phase_summaries (due_at) WHERE due_at IS NOT NULL;
