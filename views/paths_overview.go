package views

// Addresses of the audit log and the settings.
const (
	AuditPath    = "/audit"
	SettingsPath = "/settings"

	InboxCountPath = "/inbox/count" // how much waits on the reader, a live part of every page
)

// AuditBeforePath is the page of the audit log with what came before an event.
func AuditBeforePath(id int64) string { return AuditPath + "?before=" + itoa64(id) }
