-- +goose Up
-- What the plans list is searched for beyond title and goal: the criteria of
-- the definition of done and of each done_when, the reasons of phases and of
-- their last verdicts. One bounded text in small letters for each plan, so that
-- a search reads no evidence and no long text.
CREATE TABLE plan_words (
    plan_id TEXT NOT NULL PRIMARY KEY REFERENCES plans (id),
    words   TEXT NOT NULL
);

INSERT INTO plan_words (plan_id, words)
SELECT p.id, LOWER(SUBSTR(p.title, 1, 300) || ' ' || SUBSTR(p.goal, 1, 1000) || ' ' || SUBSTR(p.dod_text, 1, 2000) || ' ' || COALESCE((
    SELECT GROUP_CONCAT(SUBSTR(h.done_when, 1, 1000) || ' ' || SUBSTR(h.reason, 1, 500) || ' ' || COALESCE((
        SELECT SUBSTR(v.reason, 1, 500) FROM verdicts v WHERE v.pass_id = h.pass_id ORDER BY v.id DESC LIMIT 1), ''), ' ')
    FROM phases h WHERE h.plan_id = p.id), ''))
FROM plans p;
