package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "donewhen"

// rule is one row of the import table in docs/architecture.md. Only what a
// package imports itself counts, and only outside its tests.
type rule struct {
	pkg   string   // the package, without the module's name; "views/..." means all below it too
	may   []string // packages of ours it may import, the same notation; "..." means all
	never []string // import paths, or beginnings of them, of others that it must not use
}

const (
	gormLib  = "gorm.io/"
	echoLib  = "github.com/labstack/echo"
	templLib = "github.com/a-h/templ"
	execLib  = "os/exec"
	httpLib  = "net/http"
	sqlLib   = "database/sql"
)

// table is the import table. A package that is not in it fails the test: a new
// package gets its row when it is made.
var table = []rule{
	{"models", nil, []string{gormLib, echoLib, templLib, execLib, httpLib}},
	{"models/store", []string{"models"}, []string{echoLib, templLib, execLib, httpLib}},
	{"models/store/storetest", []string{"models", "models/store"}, []string{echoLib, templLib}},
	{"dod", []string{"models"}, []string{gormLib, echoLib, templLib, execLib, httpLib, sqlLib}},
	{"dod/judge", []string{"dod"}, []string{gormLib, echoLib, templLib, execLib, sqlLib}},
	{"engine", []string{"models", "models/store", "dod", "engine/workspace"}, []string{gormLib, echoLib, templLib, httpLib}},
	{"engine/runner", []string{"engine", "dod", "models"}, []string{gormLib, echoLib, templLib, sqlLib}},
	{"engine/workspace", nil, []string{gormLib, echoLib, templLib, httpLib, sqlLib}},
	{"handlers", []string{"models", "dod", "engine", "views", "views/ui", "static"}, []string{gormLib, execLib, sqlLib}},
	{"views/...", []string{"models", "dod", "views/...", "static"}, []string{gormLib, echoLib, execLib, sqlLib}},
	{"static", nil, []string{gormLib, echoLib, templLib, execLib, sqlLib}},
	{"internal/browsertest", nil, []string{gormLib, echoLib}},
	{"internal/claudetest", nil, []string{gormLib, echoLib}},
	{"cmd/web", []string{"..."}, nil},
}

// testOnly are packages that no program may contain.
var testOnly = []string{"internal/browsertest", "internal/claudetest", "models/store/storetest", "views/gallery"}

// listed is what the check needs of one package of `go list -json`.
type listed struct {
	ImportPath string
	Imports    []string
}

// matches reports whether a package of ours, without the module's name, is what
// the notation names.
func matches(notation, pkg string) bool {
	if notation == "..." {
		return true
	}
	if base, ok := strings.CutSuffix(notation, "/..."); ok {
		return pkg == base || strings.HasPrefix(pkg, base+"/")
	}
	return pkg == notation
}

// breaches returns one sentence for every import that the table does not allow.
func breaches(table []rule, packages []listed) []string {
	var found []string
	for _, p := range packages {
		pkg := strings.TrimPrefix(p.ImportPath, module+"/")
		i := slices.IndexFunc(table, func(r rule) bool { return matches(r.pkg, pkg) })
		if i < 0 {
			found = append(found, fmt.Sprintf("%s has no row in the import table: say what it may import", pkg))
			continue
		}
		row := table[i]
		for _, imported := range p.Imports {
			ours, isOurs := strings.CutPrefix(imported, module+"/")
			if isOurs && slices.Contains(testOnly, ours) {
				found = append(found, fmt.Sprintf("%s imports %s, which is for tests alone", pkg, ours))
			} else if isOurs && !slices.ContainsFunc(row.may, func(m string) bool { return matches(m, ours) }) {
				found = append(found, fmt.Sprintf("%s imports %s: it may import %s of ours", pkg, ours, orNothing(row.may)))
			}
			for _, never := range row.never {
				if imported == never || strings.HasPrefix(imported, strings.TrimSuffix(never, "/")+"/") {
					found = append(found, fmt.Sprintf("%s imports %s: it must never use %s", pkg, imported, never))
				}
			}
		}
	}
	return found
}

func orNothing(may []string) string {
	if len(may) == 0 {
		return "nothing"
	}
	return strings.Join(may, ", ")
}

// TestImports executes the import table over the module as it is.
func TestImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-buildvcs=false", "-e", "-json=ImportPath,Imports", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	if len(packages) < 5 {
		t.Fatalf("go list found only %d packages: the check would check nothing", len(packages))
	}
	for _, b := range breaches(table, packages) {
		t.Error(b)
	}
}

// TestImportTableCanFail gives the check imports that it must refuse, and some
// that it must not.
func TestImportTableCanFail(t *testing.T) {
	for _, tc := range []struct {
		name, pkg, imported, want string
	}{
		{"down is allowed", "engine", "donewhen/models/store", ""},
		{"standard library is allowed", "models", "time", ""},
		{"up", "models", "donewhen/models/store", "models imports models/store: it may import nothing of ours"},
		{"sideways", "engine", "donewhen/engine/runner", "engine imports engine/runner: it may import"},
		{"handlers around the reader", "handlers", "donewhen/models/store", "handlers imports models/store"},
		{"gorm's drivers are gorm", "engine", "gorm.io/driver/sqlite", "must never use gorm.io/"},
		{"echo in any version", "views", "github.com/labstack/echo/v4", "must never use github.com/labstack/echo"},
		{"a name that only begins alike", "views", "github.com/labstack/echoes", ""},
		{"commands in the pure package", "dod", "os/exec", "must never use os/exec"},
		{"templ in the engine", "engine", "github.com/a-h/templ", "must never use github.com/a-h/templ"},
		{"a row for a whole folder", "views/ui", "donewhen/static", ""},
		{"a whole folder's never", "views/ui", "gorm.io/gorm", "must never use gorm.io/"},
		{"the command may import all", "cmd/web", "donewhen/engine/runner", ""},
		{"but no test tools", "cmd/web", "donewhen/internal/browsertest", "for tests alone"},
		{"unknown package", "utils", "strings", "utils has no row in the import table"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := strings.Join(breaches(table, []listed{{module + "/" + tc.pkg, []string{tc.imported}}}), "\n")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
