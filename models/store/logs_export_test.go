package store

// FlushedBytes is how much of a run's log is in the database.
func FlushedBytes(l *Logs, run int64) (n int64) {
	_ = l.read.QueryRow(`SELECT ifnull(sum(bytes), 0) FROM run_log_chunks WHERE run_id = ?`, run).Scan(&n)
	return n
}

// ChunkCount is in how many chunks a run's log is stored.
func ChunkCount(l *Logs, run int64) (n int) {
	_ = l.read.QueryRow(`SELECT count(*) FROM run_log_chunks WHERE run_id = ?`, run).Scan(&n)
	return n
}

// SetLogsVersion pretends that another program made the file.
func SetLogsVersion(l *Logs, v int) {
	if _, err := l.write.Exec(`PRAGMA user_version = ` + string(rune('0'+v/10)) + string(rune('0'+v%10))); err != nil {
		panic(err)
	}
}
