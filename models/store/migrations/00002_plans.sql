-- +goose Up
CREATE TABLE plans (
    id                  TEXT      NOT NULL PRIMARY KEY,
    project_id          INTEGER   NOT NULL REFERENCES projects (id),
    title               TEXT      NOT NULL,
    goal                TEXT      NOT NULL,
    status              TEXT      NOT NULL CHECK (status IN ('draft', 'running', 'paused', 'waiting', 'failed', 'finished', 'applying', 'applied', 'cancelled', 'discarded')),
    target_branch       TEXT      NOT NULL,
    base_commit         TEXT      NOT NULL,
    work_commit         TEXT      NOT NULL,
    work_tree           TEXT      NOT NULL,
    template_version_id INTEGER   REFERENCES template_versions (id),
    dod_source          TEXT      NOT NULL,
    dod_text            TEXT      NOT NULL,
    dod_args            TEXT,
    criteria_json       TEXT      NOT NULL,
    unrecorded          TEXT,
    version             INTEGER   NOT NULL,
    form_key            TEXT      NOT NULL,
    created_by          INTEGER   NOT NULL,
    created_at          TIMESTAMP NOT NULL,
    updated_at          TIMESTAMP NOT NULL,
    started_at          TIMESTAMP,
    ended_at            TIMESTAMP,
    cleaned_at          TIMESTAMP
);

-- A form that was sent twice makes one plan.
CREATE UNIQUE INDEX plans_form_key ON plans (form_key) WHERE form_key <> '';
-- The plans list by its filters, newest first; the inbox and recovery by status.
CREATE INDEX plans_status ON plans (status, id);
CREATE INDEX plans_project ON plans (project_id, id);
CREATE INDEX plans_project_status ON plans (project_id, status, id);

CREATE TABLE phases (
    id             INTEGER   NOT NULL PRIMARY KEY,
    plan_id        TEXT      NOT NULL REFERENCES plans (id),
    position       INTEGER   NOT NULL CHECK (position >= 1),
    name           TEXT      NOT NULL,
    task           TEXT      NOT NULL,
    agents         TEXT,
    done_when      TEXT      NOT NULL,
    max_iterations INTEGER   NOT NULL CONSTRAINT phases_max_iterations CHECK (max_iterations BETWEEN 1 AND 20),
    needs_approval BOOLEAN   NOT NULL,
    status         TEXT      NOT NULL CHECK (status IN ('pending', 'running', 'judging', 'completed', 'awaiting_approval', 'exhausted', 'stalled', 'needs_attention', 'failed', 'cancelled')),
    attempt        INTEGER   NOT NULL CHECK (attempt >= 1),
    iteration      INTEGER   NOT NULL CHECK (iteration >= 0),
    pass_id        INTEGER   REFERENCES passes (id),
    reason         TEXT      NOT NULL,
    feedback       TEXT      NOT NULL,
    note           TEXT      NOT NULL,
    overridden     BOOLEAN   NOT NULL,
    start_commit   TEXT      NOT NULL,
    restore_to     TEXT      NOT NULL,
    due_at         TIMESTAMP,
    created_at     TIMESTAMP NOT NULL,
    updated_at     TIMESTAMP NOT NULL,
    CONSTRAINT phases_position UNIQUE (plan_id, position)
);

-- What a tick asks: it holds only phases for which something is to be done,
-- however many finished ones there are.
CREATE INDEX phases_due ON phases (due_at, id) WHERE due_at IS NOT NULL;

CREATE TABLE passes (
    id            INTEGER   NOT NULL PRIMARY KEY,
    phase_id      INTEGER   NOT NULL REFERENCES phases (id),
    plan_id       TEXT      NOT NULL REFERENCES plans (id),
    attempt       INTEGER   NOT NULL CHECK (attempt >= 1),
    iteration     INTEGER   NOT NULL CHECK (iteration >= 0),
    status        TEXT      NOT NULL CHECK (status IN ('queued', 'running', 'judging', 'met', 'not_met', 'cancelled', 'superseded')),
    task_text     TEXT      NOT NULL,
    note          TEXT      NOT NULL,
    start_commit  TEXT      NOT NULL,
    end_commit    TEXT      NOT NULL,
    end_tree      TEXT      NOT NULL,
    evidence_hash TEXT      NOT NULL,
    judge_tries   INTEGER   NOT NULL,
    reason        TEXT      NOT NULL,
    claimed_by    TEXT      NOT NULL,
    created_at    TIMESTAMP NOT NULL,
    started_at    TIMESTAMP,
    ended_at      TIMESTAMP,
    CONSTRAINT passes_number UNIQUE (phase_id, attempt, iteration)
);

CREATE INDEX passes_claimed ON passes (claimed_by, id) WHERE claimed_by > '';

CREATE TABLE runs (
    id            INTEGER   NOT NULL PRIMARY KEY,
    pass_id       INTEGER   NOT NULL REFERENCES passes (id),
    phase_id      INTEGER   NOT NULL REFERENCES phases (id),
    plan_id       TEXT      NOT NULL REFERENCES plans (id),
    position      INTEGER   NOT NULL CHECK (position >= 1),
    try           INTEGER   NOT NULL CHECK (try >= 1),
    agent         TEXT      NOT NULL,
    status        TEXT      NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'timed_out', 'errored', 'lost', 'cancelled')),
    exit_code     INTEGER,
    pid           INTEGER   NOT NULL,
    pid_start     BIGINT    NOT NULL,
    final_message TEXT      NOT NULL,
    activity      TEXT      NOT NULL,
    reason        TEXT      NOT NULL,
    input_tokens  BIGINT    NOT NULL,
    output_tokens BIGINT    NOT NULL,
    cost_usd      DOUBLE PRECISION NOT NULL,
    "commit"      TEXT      NOT NULL,
    tree          TEXT      NOT NULL,
    log_bytes     BIGINT    NOT NULL,
    log_cut       BOOLEAN   NOT NULL,
    created_at    TIMESTAMP NOT NULL,
    started_at    TIMESTAMP,
    ended_at      TIMESTAMP,
    CONSTRAINT runs_try UNIQUE (pass_id, position, try)
);

CREATE INDEX runs_running ON runs (status, id) WHERE status = 'running';
