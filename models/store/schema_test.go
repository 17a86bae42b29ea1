package store

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm/schema"

	"donewhen/models"
)

// tables are the rows that are stored.
var tables = []any{
	models.Project{}, models.Template{}, models.TemplateVersion{},
	models.Plan{}, models.Phase{}, models.Pass{}, models.Run{}, models.Verdict{}, models.Judging{}, models.PhaseSummary{}, models.Canary{}, models.Judge{}, models.Spending{},
	models.PlanWords{},
	models.Evaluation{}, models.Decision{}, models.DodChange{}, models.ApplyAttempt{}, models.Event{},
	models.User{}, models.Invite{}, models.Session{},
}

// columnsWithoutField: the folded name is what makes users unique without
// regard to case, and nothing outside the store needs it.
var columnsWithoutField = []string{"users.name_key text not null"}

// The migrations and the structs say the same: every field has its column, and
// there is no column without a field.
func TestSchemaIsTheStructs(t *testing.T) {
	s := open(t)
	db := raw(t, s)
	var names []string
	for _, row := range tables {
		sch, err := schema.Parse(row, &sync.Map{}, naming)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, sch.Table)
		var want []string
		for _, f := range sch.Fields {
			null := "not null"
			if f.FieldType.Kind().String() == "ptr" || f.TagSettings["SERIALIZER"] == "json" && f.FieldType.Kind().String() != "struct" {
				null = "null"
			}
			want = append(want, fmt.Sprintf("%s %s %s", f.DBName, kindOf(f), null))
		}
		var got []string
		columns, err := db.Query("SELECT name, type, \"notnull\" FROM pragma_table_info(?)", sch.Table)
		if err != nil {
			t.Fatal(err)
		}
		for columns.Next() {
			var name, typ string
			var notNull bool
			if err := columns.Scan(&name, &typ, &notNull); err != nil {
				t.Fatal(err)
			}
			null := map[bool]string{true: "not null", false: "null"}[notNull]
			got = append(got, fmt.Sprintf("%s %s %s", name, strings.TrimPrefix(strings.ToLower(typ), "big"), null))
		}
		columns.Close()
		for i := range got {
			got[i] = strings.Replace(got[i], " int ", " integer ", 1)
		}
		slices.Sort(got)
		slices.Sort(want)
		for _, c := range want {
			if !slices.Contains(got, c) {
				t.Errorf("%s: the struct has %q, the table does not", sch.Table, c)
			}
		}
		for _, c := range got {
			if !slices.Contains(want, c) && !slices.Contains(columnsWithoutField, sch.Table+"."+c) {
				t.Errorf("%s: the table has %q, the struct does not", sch.Table, c)
			}
		}
	}
	found, err := db.Query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose_%'")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		var name string
		if err := found.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(names, name) {
			t.Errorf("table %s has no struct in this test", name)
		}
	}
}

func kindOf(f *schema.Field) string {
	switch {
	case f.TagSettings["SERIALIZER"] == "json":
		return "text"
	case f.DataType == schema.Time:
		return "timestamp"
	case f.DataType == schema.Bool:
		return "boolean"
	case f.DataType == schema.Float:
		return "double precision"
	case f.DataType == schema.Int || f.DataType == schema.Uint:
		return "integer"
	}
	return "text"
}

// Each CHECK lists exactly the declared constants.
func TestChecksAreTheConstants(t *testing.T) {
	s := open(t)
	for _, tc := range []struct{ table, column, file, typ string }{
		{"plans", "status", "status.go", "PlanStatus"},
		{"phases", "status", "status.go", "PhaseStatus"},
		{"passes", "status", "status.go", "PassStatus"},
		{"runs", "status", "status.go", "RunStatus"},
		{"evaluations", "status", "status.go", "EvaluationStatus"},
		{"apply_attempts", "status", "status.go", "ApplyStatus"},
		{"verdicts", "kind", "status.go", "VerdictKind"},
		{"judgings", "kind", "status.go", "VerdictKind"},
		{"canaries", "outcome", "canary.go", "CanaryOutcome"},
		{"decisions", "kind", "plan.go", "DecisionKind"},
	} {
		var ddl string
		if err := raw(t, s).QueryRow("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", tc.table).Scan(&ddl); err != nil {
			t.Fatal(err)
		}
		in := regexp.MustCompile(tc.column + ` IN \(([^)]*)\)`).FindStringSubmatch(ddl)
		if in == nil {
			t.Errorf("%s.%s has no CHECK", tc.table, tc.column)
			continue
		}
		var got []string
		for _, v := range strings.Split(in[1], ",") {
			got = append(got, strings.Trim(v, " '"))
		}
		want := constants(t, "../"+tc.file, tc.typ)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s.%s may be %v, declared are %v", tc.table, tc.column, got, want)
		}
	}
	d := plant(t, s)
	for _, q := range []string{
		"UPDATE plans SET status = 'done' WHERE id = '" + d.plan.ID + "'",
		"UPDATE phases SET status = ''",
		"UPDATE passes SET status = 'Met'",
		"UPDATE runs SET status = 'zombie'",
	} {
		if _, err := raw(t, s).Exec(q); err == nil || !strings.Contains(err.Error(), "CHECK") {
			t.Errorf("%s: %v, want a refusal by the CHECK", q, err)
		}
	}
}

func constants(t *testing.T, file, typ string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if id, ok := v.Type.(*ast.Ident); ok && id.Name == typ {
				text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, text)
			}
		}
		return true
	})
	return values
}

// A crafted request cannot make an endless loop or a phase without a pass, on
// whichever way it comes.
func TestA5_05_MaxIterations(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	for _, tc := range []struct{ n, want int }{{0, 1}, {-3, 1}, {1, 1}, {2, 2}, {20, 20}, {21, 20}, {1_000_000, 20}} {
		p := models.Plan{ProjectID: d.project.ID, Title: "crafted", TargetBranch: "main"}
		phases := []models.Phase{{Name: "loop", MaxIterations: tc.n}}
		tx(t, s, func(tx *Tx) error { return tx.InsertPlan(ctx, &p, phases) })
		if got := must(s.PhasesOf(ctx, p.ID))(t)[0].MaxIterations; got != tc.want || phases[0].MaxIterations != tc.want {
			t.Errorf("InsertPlan with max_iterations %d stored %d, want %d", tc.n, got, tc.want)
		}
		tx(t, s, func(tx *Tx) error {
			return tx.SetPhase(ctx, phases[0].ID, "", PhaseSet{MaxIterations: &tc.n})
		})
		if got := must(s.Phase(ctx, phases[0].ID))(t).MaxIterations; got != tc.want {
			t.Errorf("SetPhase with max_iterations %d stored %d, want %d", tc.n, got, tc.want)
		}
	}
	for _, n := range []any{0, -3, 21, 1_000_000, "abc", nil} {
		for _, q := range []string{
			"UPDATE phases SET max_iterations = ? WHERE position = 1",
			`INSERT INTO phases (plan_id, position, name, task, done_when, max_iterations, needs_approval, status, attempt, iteration,
				reason, feedback, note, overridden, start_commit, restore_to, created_at, updated_at)
			SELECT plan_id, 9, name, task, done_when, ?, needs_approval, status, attempt, iteration,
				reason, feedback, note, overridden, start_commit, restore_to, created_at, updated_at FROM phases LIMIT 1`,
		} {
			_, err := raw(t, s).Exec(q, n)
			if err == nil || !strings.Contains(err.Error(), "max_iterations") {
				t.Errorf("max_iterations %v by %s: %v, want a refusal by its constraint", n, q, err)
			}
		}
	}
	if got := must(s.Phase(ctx, d.phases[0].ID))(t).MaxIterations; got != 3 {
		t.Errorf("max_iterations became %d", got)
	}
}

func TestNeverRewritten(t *testing.T) {
	s := open(t)
	v := models.TemplateVersion{Text: "first"}
	tx(t, s, func(tx *Tx) error {
		tpl := models.Template{Name: "done"}
		if err := tx.InsertTemplate(ctx, &tpl); err != nil {
			return err
		}
		v.TemplateID = tpl.ID
		if err := tx.InsertEvent(ctx, models.Event{Kind: "user.invited"}); err != nil {
			return err
		}
		return tx.InsertTemplateVersion(ctx, &v)
	})
	for _, q := range []string{
		"UPDATE events SET reason = 'nothing happened'", "UPDATE events SET id = id + 1", "DELETE FROM events",
		"UPDATE template_versions SET text = 'easier'", "DELETE FROM template_versions",
	} {
		if _, err := raw(t, s).Exec(q); err == nil {
			t.Errorf("%s: went through", q)
		}
	}
	if count(t, s, "events") != 1 || must(s.TemplateVersion(ctx, v.ID))(t).Text != "first" {
		t.Error("what must not change has changed")
	}
}

// Deleting a parent is refused; it never takes its children along.
func TestNoCascade(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	for _, q := range []string{
		"DELETE FROM projects", "DELETE FROM plans", "DELETE FROM phases", "DELETE FROM passes",
	} {
		if _, err := raw(t, s).Exec(q); err == nil {
			t.Errorf("%s: went through", q)
		}
	}
	if must(s.Run(ctx, d.run.ID))(t).PlanID != d.plan.ID {
		t.Error("the run is gone")
	}
	var cascades int
	if err := raw(t, s).QueryRow("SELECT COUNT(*) FROM sqlite_master WHERE sql LIKE '%CASCADE%'").Scan(&cascades); err != nil || cascades != 0 {
		t.Errorf("%d tables cascade (%v)", cascades, err)
	}
}
