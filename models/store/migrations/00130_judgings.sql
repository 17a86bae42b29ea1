-- +goose Up
-- What is counted of each verdict, without its evidence and its prompts: the
-- scorecard reads a range of time of it.
CREATE TABLE judgings (
    verdict_id     INTEGER   NOT NULL PRIMARY KEY REFERENCES verdicts (id),
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
    created_at     TIMESTAMP NOT NULL
);

-- Verdicts from before: their prompt's version and criteria are not known.
INSERT INTO judgings
SELECT v.id, v.pass_id, v.phase_id, v.evaluator, 0, v.kind, v.met, v.reused_from IS NOT NULL,
    (SELECT COUNT(*) + TOTAL(json_extract(a.value, '$.reasked') = 1) FROM json_each(CASE WHEN json_valid(v.answers_json) THEN v.answers_json ELSE '[]' END) a WHERE a.type = 'object'),
    (SELECT TOTAL(json_extract(a.value, '$.reasked') = 1) + TOTAL(json_extract(a.value, '$.verdict.kind') = 'invalid_reply') FROM json_each(CASE WHEN json_valid(v.answers_json) THEN v.answers_json ELSE '[]' END) a WHERE a.type = 'object'),
    (SELECT TOTAL(json_extract(a.value, '$.verdict.kind') = 'evaluator_error') FROM json_each(CASE WHEN json_valid(v.answers_json) THEN v.answers_json ELSE '[]' END) a WHERE a.type = 'object'),
    (SELECT TOTAL(json_extract(a.value, '$.input_tokens')) FROM json_each(CASE WHEN json_valid(v.answers_json) THEN v.answers_json ELSE '[]' END) a WHERE a.type = 'object'),
    (SELECT TOTAL(json_extract(a.value, '$.output_tokens')) FROM json_each(CASE WHEN json_valid(v.answers_json) THEN v.answers_json ELSE '[]' END) a WHERE a.type = 'object'),
    (SELECT TOTAL(json_extract(a.value, '$.cost_usd')) FROM json_each(CASE WHEN json_valid(v.answers_json) THEN v.answers_json ELSE '[]' END) a WHERE a.type = 'object'),
    v.millis, v.evidence_hash, '', v.created_at
FROM verdicts v;

CREATE INDEX judgings_created ON judgings (created_at);
CREATE INDEX judgings_phase ON judgings (phase_id, created_at);
CREATE INDEX decisions_on_phases ON decisions (created_at) WHERE phase_id IS NOT NULL AND kind IN ('accept', 'reject');
