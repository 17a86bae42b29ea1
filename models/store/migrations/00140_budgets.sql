-- +goose Up
-- What a plan may use up; 0 = no limit.
ALTER TABLE plans ADD COLUMN budget_runs BIGINT NOT NULL DEFAULT 0 CHECK (budget_runs BETWEEN 0 AND 1000000);
ALTER TABLE plans ADD COLUMN budget_minutes BIGINT NOT NULL DEFAULT 0 CHECK (budget_minutes BETWEEN 0 AND 10000000);
ALTER TABLE plans ADD COLUMN budget_tokens BIGINT NOT NULL DEFAULT 0 CHECK (budget_tokens BETWEEN 0 AND 1000000000000);
ALTER TABLE plans ADD COLUMN budget_usd DOUBLE PRECISION NOT NULL DEFAULT 0 CHECK (budget_usd BETWEEN 0 AND 10000000);

-- Parked because the budget is used up: a raised budget lets it go on by itself.
ALTER TABLE phases ADD COLUMN over_budget BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE evaluations ADD COLUMN over_budget BOOLEAN NOT NULL DEFAULT FALSE;

-- What questions to models cost, one row each, written when the reply is there:
-- a judging that is stopped half way has cost what it has cost.
CREATE TABLE spendings (
    id            INTEGER   NOT NULL PRIMARY KEY,
    plan_id       TEXT      NOT NULL REFERENCES plans (id),
    evaluator     TEXT      NOT NULL,
    questions     BIGINT    NOT NULL,
    input_tokens  BIGINT    NOT NULL CHECK (input_tokens >= 0),
    output_tokens BIGINT    NOT NULL CHECK (output_tokens >= 0),
    cost_usd      DOUBLE PRECISION NOT NULL CHECK (cost_usd >= 0),
    created_at    TIMESTAMP NOT NULL
);

-- What was asked before: a row for each judging and each evaluation.
INSERT INTO spendings (plan_id, evaluator, questions, input_tokens, output_tokens, cost_usd, created_at)
SELECT p.plan_id, j.evaluator, j.replies, MAX(j.input_tokens, 0), MAX(j.output_tokens, 0), MAX(j.cost_usd, 0), j.created_at
FROM judgings j JOIN phases p ON p.id = j.phase_id
WHERE j.replies > 0;

INSERT INTO spendings (plan_id, evaluator, questions, input_tokens, output_tokens, cost_usd, created_at)
SELECT e.plan_id, e.evaluator, COUNT(*) + SUM(COALESCE(json_extract(a.value, '$.reasked'), 0) = 1),
    SUM(MAX(COALESCE(json_extract(a.value, '$.input_tokens'), 0), 0)),
    SUM(MAX(COALESCE(json_extract(a.value, '$.output_tokens'), 0), 0)),
    SUM(MAX(COALESCE(json_extract(a.value, '$.cost_usd'), 0), 0)),
    e.created_at
FROM evaluations e, json_each(CASE WHEN json_valid(e.answers_json) THEN e.answers_json ELSE '[]' END) a
WHERE a.type = 'object'
GROUP BY e.id;

-- Usage is a range of each, without the runs' long texts.
CREATE INDEX spendings_usage ON spendings (plan_id, questions, input_tokens, output_tokens, cost_usd);
CREATE INDEX runs_usage ON runs (plan_id, started_at, ended_at, input_tokens, output_tokens, cost_usd) WHERE started_at IS NOT NULL;
