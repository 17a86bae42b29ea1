-- Output of runs. The file is separate from the main database, because large
-- bodies there would stall every small commit.
--
-- A log is a sequence of bytes; off and first_line count from the beginning of
-- the run, dropped parts included, so that both stay stable.
CREATE TABLE IF NOT EXISTS run_logs (
	run_id     INTEGER PRIMARY KEY,
	bytes      INTEGER NOT NULL, -- everything the run wrote, dropped parts included
	breaks     INTEGER NOT NULL, -- line breaks in it
	last_break INTEGER NOT NULL, -- offset right after the last of them
	cut_from   INTEGER NOT NULL, -- the dropped middle: offsets from, up to and without to
	cut_to     INTEGER NOT NULL,
	updated_at INTEGER NOT NULL  -- Unix milliseconds
);

CREATE TABLE IF NOT EXISTS run_log_chunks (
	run_id     INTEGER NOT NULL,
	off        INTEGER NOT NULL,
	first_line INTEGER NOT NULL, -- line breaks before this chunk; chunks are cut anywhere
	lines      INTEGER NOT NULL, -- line breaks in it
	bytes      INTEGER NOT NULL, -- of the output, not of the body
	enc        INTEGER NOT NULL, -- 0 as it is, 1 zstd
	at         INTEGER NOT NULL, -- Unix milliseconds
	body       BLOB NOT NULL,    -- last column: the others are read without touching it
	PRIMARY KEY (run_id, off)
);

CREATE INDEX IF NOT EXISTS run_log_line ON run_log_chunks (run_id, first_line, off);
