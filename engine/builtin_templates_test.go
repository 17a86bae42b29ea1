package engine

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"donewhen/dod"
)

// values gives every argument of every built-in template.
var values = map[string]string{
	"bug": `#4711 "quoted"; touch PWNED`, "test_file": "none/x_test.go", "test_script": "none/test.sh", "feature": "export", "docs_file": "none.md",
	"keyword": "export", "old_name": "$(touch PWNED)", "folder": "none", "dependency": "left-pad", "version": "1.2.3", "lock_file": "none.lock",
	"changelog": "none.md", "page": "none.md", "topic": "install",
}

func TestBuiltinTemplatesAreGoodExamples(t *testing.T) {
	for _, tpl := range builtinTemplates {
		t.Run(tpl.Name, func(t *testing.T) {
			parsed := dod.Parse(tpl.Text)
			for _, w := range parsed.Warnings {
				t.Errorf("line %d: %s", w.Line, w.Message)
			}
			required := 0
			used := map[string]bool{}
			for _, name := range dod.Placeholders(tpl.Text) {
				used[name] = true
			}
			for _, c := range parsed.Criteria {
				if c.Level != dod.Info {
					required++
					if c.Check.Kind == dod.CheckText || c.Check.Kind == dod.CheckJudge {
						t.Errorf("%q counts and needs a model, or is matched literally", c.Text)
					}
				}
				for name := range values {
					if c.Check.Kind == dod.CheckRun && strings.Contains(c.Check.Arg, "$"+strings.Split(dod.ArgEnv(map[string]string{name: ""})[0], "=")[0]) {
						used[name] = true
					}
				}
			}
			if required < 3 {
				t.Errorf("only %d lines count", required)
			}
			declared := map[string]bool{}
			for _, a := range tpl.Args {
				declared[a.Name] = true
				if a.Description == "" {
					t.Errorf("the argument %s is not described", a.Name)
				}
			}
			if !maps.Equal(used, declared) {
				t.Errorf("used %v, declared %v", slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(declared)))
			}
		})
	}
}

// Where nothing is there, no command of a built-in template passes by mistake,
// and A2-06 no value becomes program text.
func TestA2_06_BuiltinCommandsFailClosed(t *testing.T) {
	for _, tpl := range builtinTemplates {
		for _, c := range dod.FillCriteria(dod.ParseCriteria(tpl.Text), values) {
			if c.Check.Kind != dod.CheckRun {
				continue
			}
			dir := t.TempDir()
			cmd := exec.Command("bash", "-o", "pipefail", "-c", c.Check.Arg)
			cmd.Dir, cmd.Env = dir, append([]string{"PATH=/usr/bin:/bin"}, dod.ArgEnv(values)...)
			out, err := cmd.CombinedOutput()
			if wantPass := strings.Contains(c.Text, "conflict marker"); (err == nil) != wantPass {
				t.Errorf("%s: %q in an empty folder: %v\n%s", tpl.Name, c.Check.Arg, err, out)
			}
			if left, err := exec.Command("ls", dir).Output(); err != nil || len(left) > 0 {
				t.Errorf("%s: %q made %q (%v)", tpl.Name, c.Check.Arg, left, err)
			}
		}
	}
}
