package handlers

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models/store"
	"donewhen/models/store/storetest"
)

// BenchmarkInsight measures the page over a database with a million phases that
// ended evenly over the last three years, some 27,000 of them in the last 30
// days, with 6,000 verdicts that were not met. "first" counts each time;
// "again" is what every other reader of the same minute gets.
func BenchmarkInsight(b *testing.B) {
	ctx := context.Background()
	path := filepath.Join(b.TempDir(), "filled.db")
	if err := storetest.Fill(ctx, path, 1_000_000, 10_000); err != nil {
		b.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	spread(b, path, now)
	clock := func() time.Time { return now }
	st, err := store.Open(ctx, path, store.Options{Now: clock})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	accounts := engine.NewAccounts(st, clock)
	accounts.SetPasswordCost(64, 1)
	srv, err := New(Deps{Accounts: accounts, Reader: st, Now: clock, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	token, _, err := accounts.SetupToken(ctx)
	if err != nil {
		b.Fatal(err)
	}
	ada, err := accounts.Setup(ctx, token, "ada", password)
	if err != nil {
		b.Fatal(err)
	}
	session, _, err := accounts.StartSession(ctx, ada.ID, "")
	if err != nil {
		b.Fatal(err)
	}
	for _, days := range insightRanges {
		for _, kind := range []string{"first", "again"} {
			b.Run(fmt.Sprintf("%d-days/%s", days, kind), func(b *testing.B) {
				size := 0
				for b.Loop() {
					if kind == "first" {
						now = now.Add(insightFresh)
					}
					r := httptest.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("/insight?days=%d", days), nil)
					r.AddCookie(&http.Cookie{Name: cookieName, Value: session})
					w := httptest.NewRecorder()
					srv.ServeHTTP(w, r)
					if w.Code != http.StatusOK {
						b.Fatalf("%d: %.500s", w.Code, w.Body)
					}
					size = w.Body.Len()
				}
				b.ReportMetric(float64(size), "B/page")
			})
		}
	}
}

// spread gives what Fill made other ends: evenly over three years, and verdicts
// to some of the newest passes.
func spread(b *testing.B, path string, now time.Time) {
	b.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=OFF&_synchronous=OFF")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	from := now.AddDate(-3, 0, 0).Unix()
	step := float64(now.Unix()-from) / 1_000_000
	for _, q := range []string{
		`UPDATE passes SET ended_at = strftime('%Y-%m-%d %H:%M:%S+00:00', ?1 + id * ?2, 'unixepoch'), status = CASE id % 3 WHEN 0 THEN 'not_met' ELSE 'met' END, iteration = id % 5`,
		`UPDATE runs SET ended_at = strftime('%Y-%m-%d %H:%M:%S+00:00', ?1 + id * ?2, 'unixepoch'), started_at = strftime('%Y-%m-%d %H:%M:%S+00:00', ?1 + id * ?2 - 90, 'unixepoch'),
			cost_usd = 0.01, final_message = printf('%.*c', 800, 'x')`,
		`INSERT INTO verdicts (pass_id, phase_id, plan_id, kind, met, reason, evaluator, results_json, answers_json, evidence, evidence_hash, tree, created_at, millis)
			SELECT id, phase_id, plan_id, 'verdict', FALSE, 'not yet', 'text', printf('[{"criterion":{"index":1,"text":"the build is green %d","pattern":"","level":"required","check":"text"},"status":"failed","reasoning":"%.*c"},{"criterion":{"index":2,"text":"documented","pattern":"","level":"required","check":"judge"},"status":"passed","reasoning":"%.*c","kind":"verdict"},{"criterion":{"index":3,"text":"tests are there","pattern":"","level":"required","check":"judge"},"status":"failed","reasoning":"%.*c","kind":"verdict"}]', id % 40, 200, 'a', 200, 'b', 200, 'c'),
				printf('%.*c', 4000, 'r'), printf('%.*c', 4000, 'e'), '', '', ended_at, 5 FROM passes WHERE status = 'not_met' AND ?1 + ?2 > 0 ORDER BY id DESC LIMIT 6000`,
	} {
		if _, err := db.Exec(q, from, step); err != nil {
			b.Fatalf("%.60s: %v", q, err)
		}
	}
}
