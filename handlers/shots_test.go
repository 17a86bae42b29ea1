package handlers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What makes pictures is run by ./task shots: it finds its tests by their names.
func TestShotsRunsEveryTestThatMakesPictures(t *testing.T) {
	task, err := os.ReadFile("../Taskfile.yml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`DONEWHEN_SHOTS=.* -run '([^']+)'`).FindSubmatch(task)
	if found == nil {
		t.Fatal("the Taskfile makes no pictures")
	}
	run, pictures := regexp.MustCompile(string(found[1])), 0
	for _, dir := range []string{".", "../cmd/web", "../views/gallery"} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, file := range files {
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range tree.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Recv != nil || len(f.Name.Name) < 5 || f.Name.Name[:4] != "Test" || !looks(f.Body) {
					continue
				}
				pictures++
				if !run.MatchString(f.Name.Name) {
					t.Errorf("%s makes pictures and is not run for them", f.Name.Name)
				}
			}
		}
	}
	if pictures < 20 {
		t.Errorf("only %d tests are seen to make pictures", pictures)
	}
}

// looks says whether a body calls what makes pictures.
func looks(body ast.Node) (yes bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		switch f := call.Fun.(type) {
		case *ast.Ident:
			first, _ := call.Args[0].(*ast.Ident) // some tests have a look of their own
			yes = yes || f.Name == "look" && first != nil && first.Name == "t"
		case *ast.SelectorExpr:
			yes = yes || f.Sel.Name == "Shot" || f.Sel.Name == "album"
		}
		return true
	})
	return yes
}
