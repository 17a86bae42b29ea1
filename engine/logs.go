package engine

import "donewhen/models/store"

// Lines and figures of a run's log, as pages read them.
type (
	LogLine = store.LogLine
	LogInfo = store.LogInfo
)
