-- +goose Up
CREATE TABLE users (
    id            INTEGER   NOT NULL PRIMARY KEY,
    name          TEXT      NOT NULL CHECK (name <> ''),
    name_key      TEXT      NOT NULL CONSTRAINT users_name UNIQUE, -- the name without regard to case
    role          TEXT      NOT NULL CHECK (role IN ('viewer', 'lead', 'admin')),
    password_hash TEXT      NOT NULL CHECK (password_hash <> ''),
    disabled_at   TIMESTAMP,
    created_at    TIMESTAMP NOT NULL,
    last_seen_at  TIMESTAMP
);

-- One-time links. The token itself is only in the link.
CREATE TABLE invites (
    id         INTEGER   NOT NULL PRIMARY KEY,
    token_hash TEXT      NOT NULL CONSTRAINT invites_token UNIQUE,
    kind       TEXT      NOT NULL CHECK (kind IN ('setup', 'invite', 'reset')),
    role       TEXT      NOT NULL CHECK (role IN ('viewer', 'lead', 'admin')),
    user_id    INTEGER   REFERENCES users (id),
    created_by INTEGER   NOT NULL, -- 0 = the server itself
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    used_at    TIMESTAMP,
    CHECK ((kind = 'reset') = (user_id IS NOT NULL))
);

CREATE INDEX invites_open ON invites (kind, used_at);

-- Logins. The id itself is only in the cookie.
CREATE TABLE sessions (
    id_hash    TEXT      NOT NULL PRIMARY KEY,
    user_id    INTEGER   NOT NULL REFERENCES users (id),
    data       TEXT      NOT NULL,
    created_at TIMESTAMP NOT NULL,
    seen_at    TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL
);

CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_seen ON sessions (seen_at);
