-- +goose Up
CREATE TABLE projects (
    id            INTEGER   NOT NULL PRIMARY KEY,
    name          TEXT      NOT NULL CONSTRAINT projects_name UNIQUE,
    path          TEXT      NOT NULL CONSTRAINT projects_path UNIQUE,
    target_branch TEXT      NOT NULL,
    require_dod   BOOLEAN   NOT NULL,
    example       BOOLEAN   NOT NULL,
    created_at    TIMESTAMP NOT NULL
);

CREATE TABLE templates (
    id          INTEGER   NOT NULL PRIMARY KEY,
    name        TEXT      NOT NULL CONSTRAINT templates_name UNIQUE,
    description TEXT      NOT NULL,
    created_at  TIMESTAMP NOT NULL,
    archived_at TIMESTAMP
);

-- A published text never changes: plans pin it, and what was agreed must stay readable.
CREATE TABLE template_versions (
    id             INTEGER   NOT NULL PRIMARY KEY,
    template_id    INTEGER   NOT NULL REFERENCES templates (id),
    version        INTEGER   NOT NULL CHECK (version >= 1),
    text           TEXT      NOT NULL,
    args           TEXT,
    why            TEXT      NOT NULL,
    published_by   INTEGER   NOT NULL,
    publisher_name TEXT      NOT NULL,
    created_at     TIMESTAMP NOT NULL,
    CONSTRAINT template_versions_number UNIQUE (template_id, version)
);

-- +goose StatementBegin
CREATE TRIGGER template_versions_keep BEFORE UPDATE ON template_versions
BEGIN
    SELECT RAISE(ABORT, 'a published template version never changes: publish a new one');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER template_versions_stay BEFORE DELETE ON template_versions
BEGIN
    SELECT RAISE(ABORT, 'a published template version is never removed: archive the template');
END;
-- +goose StatementEnd
