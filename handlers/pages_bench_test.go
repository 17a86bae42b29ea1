package handlers

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store/storetest"
	"donewhen/views"
)

// maxPage bounds what a page may send, in bytes.
const maxPage = 200 << 10

// BenchmarkPages measures every page over a database with 10,000 plans, a
// million runs and a million events, of which 400 plans wait for somebody. A page
// of more than 200 KB fails it.
func BenchmarkPages(b *testing.B) {
	path := filepath.Join(b.TempDir(), "filled.db")
	if err := storetest.Fill(b.Context(), path, 1_000_000, 10_000); err != nil {
		b.Fatal(err)
	}
	spread(b, path, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	busy(b, path)
	w := newWorksOver(b, path, nil)
	second := sh("Make it idempotent", "echo again >> a.txt; echo is idempotent")
	second.DoneWhen, second.MaxIterations = "- is idempotent", 5
	real := w.done(engine.NewPlan{Title: "A real one", Phases: []engine.NewPhase{sh("Write", "seq 1 20000 | tee b.txt"), second}, Dod: "- is idempotent"})
	d := w.detail(real)
	pass := d.Phases[1].Passes[0]
	filled := fmt.Sprintf("/plans/01%024d", 7)

	session, _, err := w.accounts.StartSession(b.Context(), w.people[models.RoleAdmin].ID, "")
	if err != nil {
		b.Fatal(err)
	}
	for _, page := range []string{
		"/", "/plans", "/plans?q=part+9977+of", "/plans?q=nothing+like+it", "/plans?status=applied", "/plans/new",
		"/plans/" + real, "/plans/" + real + "/diff", "/plans/" + real + "/activity", "/plans/" + real + "/dod",
		filled, filled + "/activity", "/passes/8", fmt.Sprintf("/passes/%d", pass.Pass.ID), fmt.Sprintf("/runs/%d", d.Phases[0].Passes[0].Runs[0].ID), "/runs/7",
		fmt.Sprintf("/verdicts/%d", pass.Verdict.ID), "/evaluations/1", "/templates", "/templates/new", "/projects", "/users", "/audit", "/settings", "/account",
		"/insight?days=30", "/insight?days=365", "/judges", "/replay", "/search?q=part+99",
	} {
		b.Run(page, func(b *testing.B) {
			size := 0
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, page, nil)
				r.AddCookie(&http.Cookie{Name: cookieName, Value: session})
				if strings.HasPrefix(page, views.SearchPath) { // the palette's, never a page
					r.Header.Set("HX-Request", "true")
				}
				a := httptest.NewRecorder()
				w.srv.ServeHTTP(a, r)
				if a.Code != http.StatusOK {
					b.Fatalf("%d: %.500s", a.Code, a.Body)
				}
				size = a.Body.Len()
			}
			b.ReportMetric(float64(size), "B/page")
			if size > maxPage {
				b.Errorf("%s is %d bytes", page, size)
			}
		})
	}
}

// busy makes some of the filled plans wait for a person, and gives all of them a
// history.
func busy(b *testing.B, path string) {
	b.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=OFF&_synchronous=OFF")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		`UPDATE plans SET status = 'waiting', ended_at = NULL WHERE id IN (SELECT id FROM plans ORDER BY id DESC LIMIT 350)`,
		`UPDATE plans SET status = 'finished' WHERE id IN (SELECT id FROM plans ORDER BY id LIMIT 50)`,
		`UPDATE phases SET status = 'awaiting_approval', reason = 'Its condition is met; a lead has to approve it.'
			WHERE position = 100 AND plan_id IN (SELECT id FROM plans WHERE status = 'waiting')`,
		`INSERT INTO events (plan_id, phase_id, pass_id, kind, "from", "to", actor_id, actor, reason, created_at)
			SELECT plan_id, id, pass_id, 'phase.completed', 'running', 'completed', 0, 'donewhen', 'All its runs succeeded.', created_at FROM phases`,
	} {
		if _, err := db.Exec(q); err != nil {
			b.Fatalf("%.60s: %v", q, err)
		}
	}
}
