package handlers

import (
	"testing"

	"donewhen/models"
	"donewhen/views/ui"
)

// A person who misses an edit finds in the activity where it is.
func TestActivitySaysWhereFilesAreKept(t *testing.T) {
	row := eventRow(models.Event{Kind: "plan.put_back", Actor: models.Server.Name, Reason: "/data/git/state/p1/01A/kept/now: work.txt"}, models.PlanDetail{})
	if row.Sentence != "Files that changed while a check ran were put back; copies are kept" || row.Tone != ui.ToneWarn || row.Reason != "/data/git/state/p1/01A/kept/now: work.txt" {
		t.Errorf("%+v", row)
	}
}
