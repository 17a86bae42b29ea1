package handlers

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store/storetest"
	"donewhen/views"
)

// A plan with 60 phases: the end is shown whole, the rest as lines that lead to
// the whole phase; the live part keeps what the reader opened.
func TestALongPlanStaysALightPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filled.db")
	if err := storetest.Fill(t.Context(), path, 60, 1); err != nil {
		t.Fatal(err)
	}
	w := newWorksOver(t, path, nil)
	id := fmt.Sprintf("01%024d", 0)
	a := w.lea.get("/plans/" + id)
	want(t, a, http.StatusOK)
	d := doc(t, a)
	if len(a.body) > maxPage || d.Find("li[data-phase]").Length() != 60 || d.Find("li[data-phase] [id^=what-]").Length() != nearPhases+1 {
		t.Errorf("%d bytes, %d phases, %d of them whole", len(a.body), d.Find("li[data-phase]").Length(), d.Find("li[data-phase] [id^=what-]").Length())
	}
	phases := w.detail(id).Phases
	tenth := phases[9].Phase.ID
	if href := d.Find("#"+views.PhaseAnchor(tenth)+" h3 a").AttrOr("href", ""); href != views.PhaseWholePath(id, tenth) {
		t.Errorf("the tenth phase leads to %q", href)
	}
	d = doc(t, w.lea.get("/plans/"+id+"?phase="+fmt.Sprint(tenth)))
	if d.Find("#what-"+views.PhaseAnchor(tenth)).Length() != 1 || d.Find("#what-"+views.PhaseAnchor(phases[20].Phase.ID)).Length() != 0 {
		t.Error("the tenth phase, and only it and its neighbours, should be whole")
	}
	if live := d.Find("#plan-phases").AttrOr("hx-get", ""); live != views.PlanPhasesPath(id, tenth) {
		t.Errorf("the live part asks for %q", live)
	}
}

func TestOlderPassesOfALongHistoryAreLinks(t *testing.T) {
	var card views.PhaseCard
	for i := range 60 {
		card.Passes = append(card.Passes, views.PassRow{ID: int64(i + 1), Number: i + 1, Reason: strings.Repeat("x", 2000), Task: "do it", Open: i == 3, Took: time.Second, Status: models.PassNotMet})
	}
	phases := []views.PhaseCard{card}
	boundPasses(phases)
	whole := 0
	for i, p := range phases[0].Passes {
		switch {
		case p.Brief && (p.Reason != "" || p.Took != time.Second || p.ID != int64(i+1)):
			t.Errorf("pass %d: %+v", i+1, p)
		case !p.Brief:
			whole++
		}
	}
	if last, open := phases[0].Passes[59], phases[0].Passes[3]; last.Brief || open.Brief || whole != maxPassTexts/(passFrame+2005)+1 {
		t.Errorf("%d passes are whole; the newest %t, the open one %t", whole, !last.Brief, !open.Brief)
	}
}

// A phase shows the commands of its agents, and says that they stay.
func TestPhaseShowsWhatItRuns(t *testing.T) {
	w := newWorks(t, nil)
	id := w.create(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "make <all> && make check")}})
	for who, c := range map[string]*client{"lead": w.lea, "viewer": w.vic} {
		phase := doc(t, c.get("/plans/"+id)).Find("[data-phase]").First()
		if got := phase.Find("li code").Text(); got != "make <all> && make check" {
			t.Errorf("a %s sees the command %q", who, got)
		}
		if got := phase.Find("[data-fixed]"); !strings.Contains(got.Text(), "stay as they were written") || got.Find(`a[href="/plans/new?from=`+id+`"]`).Length() != map[string]int{"lead": 1}[who] {
			t.Errorf("a %s reads %q", who, got.Text())
		}
	}
}
