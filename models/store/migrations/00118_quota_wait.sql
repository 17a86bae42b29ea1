-- +goose Up
-- Since when a pass waits for a judge's quota, without a break; NULL while it does not.
ALTER TABLE passes ADD COLUMN quota_since TIMESTAMP;
