-- +goose Up
-- How many judges have to say met: asked for by a phase, or by a template for
-- the judge lines of its definition of done, which a plan pins with the version.
ALTER TABLE phases ADD COLUMN opinions INTEGER NOT NULL DEFAULT 1 CONSTRAINT phases_opinions CHECK (opinions BETWEEN 1 AND 3);
ALTER TABLE template_versions ADD COLUMN opinions INTEGER NOT NULL DEFAULT 1 CONSTRAINT template_versions_opinions CHECK (opinions BETWEEN 1 AND 3);
ALTER TABLE plans ADD COLUMN dod_opinions INTEGER NOT NULL DEFAULT 1 CONSTRAINT plans_dod_opinions CHECK (dod_opinions BETWEEN 1 AND 3);
-- How many were asked for when it was given.
ALTER TABLE verdicts ADD COLUMN opinions INTEGER NOT NULL DEFAULT 1;
