-- +goose Up
CREATE TABLE verdicts (
    id            INTEGER   NOT NULL PRIMARY KEY,
    pass_id       INTEGER   NOT NULL REFERENCES passes (id),
    phase_id      INTEGER   NOT NULL REFERENCES phases (id),
    plan_id       TEXT      NOT NULL REFERENCES plans (id),
    kind          TEXT      NOT NULL CHECK (kind IN ('verdict', 'invalid_reply', 'evaluator_error', 'run_failed')),
    met           BOOLEAN   NOT NULL,
    reason        TEXT      NOT NULL,
    evaluator     TEXT      NOT NULL,
    results_json  TEXT      NOT NULL,
    answers_json  TEXT      NOT NULL,
    evidence      TEXT      NOT NULL,
    evidence_hash TEXT      NOT NULL,
    reused_from   INTEGER   REFERENCES verdicts (id),
    tree          TEXT      NOT NULL,
    created_at    TIMESTAMP NOT NULL,
    millis        BIGINT    NOT NULL,
    -- Unsure means not done: only a verdict in the strict form can be met.
    CONSTRAINT verdicts_met CHECK (kind = 'verdict' OR NOT met)
);

CREATE INDEX verdicts_pass ON verdicts (pass_id, id);

CREATE TABLE evaluations (
    id           INTEGER   NOT NULL PRIMARY KEY,
    plan_id      TEXT      NOT NULL REFERENCES plans (id),
    status       TEXT      NOT NULL CHECK (status IN ('queued', 'running', 'done', 'errored')),
    fingerprint  TEXT      NOT NULL,
    parts_json   TEXT      NOT NULL,
    evaluator    TEXT      NOT NULL,
    summary_json TEXT      NOT NULL,
    answers_json TEXT      NOT NULL,
    error        TEXT      NOT NULL,
    requested_by INTEGER   NOT NULL,
    created_at   TIMESTAMP NOT NULL,
    started_at   TIMESTAMP,
    ended_at     TIMESTAMP
);

CREATE INDEX evaluations_plan ON evaluations (plan_id, id);
CREATE INDEX evaluations_queued ON evaluations (status, id) WHERE status = 'queued';
CREATE INDEX evaluations_running ON evaluations (status, id) WHERE status = 'running';

CREATE TABLE decisions (
    id          INTEGER   NOT NULL PRIMARY KEY,
    plan_id     TEXT      NOT NULL REFERENCES plans (id),
    phase_id    INTEGER   REFERENCES phases (id),
    criterion   INTEGER   NOT NULL CHECK (criterion >= 0),
    kind        TEXT      NOT NULL CHECK (kind IN ('approve', 'reject', 'accept', 'waive')),
    fingerprint TEXT      NOT NULL,
    reason      TEXT      NOT NULL,
    user_id     INTEGER   NOT NULL,
    user_name   TEXT      NOT NULL,
    voided_at   TIMESTAMP,
    created_at  TIMESTAMP NOT NULL
);

CREATE INDEX decisions_plan ON decisions (plan_id, id);

CREATE TABLE apply_attempts (
    id            INTEGER   NOT NULL PRIMARY KEY,
    plan_id       TEXT      NOT NULL REFERENCES plans (id),
    status        TEXT      NOT NULL CHECK (status IN ('started', 'applied', 'refused')),
    evaluation_id INTEGER   REFERENCES evaluations (id),
    target_branch TEXT      NOT NULL,
    work_commit   TEXT      NOT NULL,
    old_target    TEXT      NOT NULL,
    merge_commit  TEXT      NOT NULL,
    message       TEXT      NOT NULL,
    reason        TEXT      NOT NULL,
    files_json    TEXT      NOT NULL,
    user_id       INTEGER   NOT NULL,
    user_name     TEXT      NOT NULL,
    created_at    TIMESTAMP NOT NULL,
    ended_at      TIMESTAMP
);

CREATE INDEX apply_attempts_plan ON apply_attempts (plan_id, id);
-- One merge of a plan at a time.
CREATE UNIQUE INDEX apply_attempts_started ON apply_attempts (plan_id) WHERE status = 'started';
