package handlers

import (
	"strings"
	"testing"
	"time"

	"donewhen/models"
)

// The dialog names what is lost with the workspace.
func TestCleanUpDialogNamesWhatGoes(t *testing.T) {
	at := time.Unix(1, 0)
	body := func(files ...models.UnrecordedFile) string {
		for _, v := range planVerbs(models.Plan{ID: "p", Status: models.PlanDiscarded, StartedAt: &at, Unrecorded: files}, models.RoleLead) {
			if v.Key == "plan-clean" {
				return v.Body
			}
		}
		t.Fatal("no clean-up is offered")
		return ""
	}
	if got := body(); strings.Contains(got, "Not recorded") || !strings.Contains(got, "recorded on the branch") {
		t.Errorf("nothing is lost: %q", got)
	}
	if got := body(models.UnrecordedFile{Path: "big.bin", Why: "too large"}); !strings.Contains(got, "deleted with it: big.bin (too large).") {
		t.Errorf("one file is lost: %q", got)
	}
	if got := body(make([]models.UnrecordedFile, 12)...); !strings.Contains(got, "and 2 more") {
		t.Errorf("many are lost: %q", got)
	}
}
