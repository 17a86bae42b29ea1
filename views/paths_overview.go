package views

import "net/url"

// Addresses of the audit log and the settings.
const (
	AuditPath    = "/audit"
	SettingsPath = "/settings"

	InboxCountPath = "/inbox/count" // how much waits on the reader, a live part of every page
)

// At is the page of the audit log, narrowed as this one is, with what came
// before an event; 0 is the newest.
func (v AuditView) At(before int64) string {
	q := url.Values{}
	for name, value := range map[string]string{"about": v.About, "who": v.Who, "q": v.Words} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if before > 0 {
		q.Set("before", itoa64(before))
	}
	if len(q) == 0 {
		return AuditPath
	}
	return AuditPath + "?" + q.Encode()
}
