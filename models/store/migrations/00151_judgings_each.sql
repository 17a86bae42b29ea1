-- +goose Up
-- What is counted of a verdict is counted for each judge that was asked.
CREATE TABLE judgings_each (
    verdict_id     INTEGER   NOT NULL REFERENCES verdicts (id),
    opinion        INTEGER   NOT NULL CHECK (opinion >= 0),
    pass_id        INTEGER   NOT NULL REFERENCES passes (id),
    phase_id       INTEGER   NOT NULL REFERENCES phases (id),
    evaluator      TEXT      NOT NULL,
    prompt_version INTEGER   NOT NULL,
    kind           TEXT      NOT NULL CHECK (kind IN ('verdict', 'invalid_reply', 'evaluator_error', 'run_failed')),
    met            BOOLEAN   NOT NULL,
    reused         BOOLEAN   NOT NULL,
    replies        INTEGER   NOT NULL,
    invalid        INTEGER   NOT NULL,
    errors         INTEGER   NOT NULL,
    input_tokens   BIGINT    NOT NULL,
    output_tokens  BIGINT    NOT NULL,
    cost_usd       DOUBLE PRECISION NOT NULL,
    millis         BIGINT    NOT NULL,
    evidence_hash  TEXT      NOT NULL,
    asked_hash     TEXT      NOT NULL,
    created_at     TIMESTAMP NOT NULL,
    PRIMARY KEY (verdict_id, opinion)
);

INSERT INTO judgings_each
SELECT verdict_id, 0, pass_id, phase_id, evaluator, prompt_version, kind, met, reused, replies, invalid, errors,
    input_tokens, output_tokens, cost_usd, millis, evidence_hash, asked_hash, created_at
FROM judgings;

DROP TABLE judgings;
ALTER TABLE judgings_each RENAME TO judgings;
CREATE INDEX judgings_created ON judgings (created_at);
CREATE INDEX judgings_phase ON judgings (phase_id, created_at);
