package main

import (
	"fmt"
	"strings"

	"donewhen/dod"
	"donewhen/dod/judge"
	"donewhen/engine/runner"
)

// askerFor resolves the model spec of a setting: `text` is nil,
// `runtime:<alias>` an agent CLI of runtimes.yaml, `anthropic:<model>` and
// `openai:<model>` a model over HTTP, with its key and address from environ
// (os.Getenv in the server). Nothing is sent yet; an error names the setting and
// what to write there.
func askerFor(setting, spec string, set *runner.Set, environ func(string) string) (dod.Asker, error) {
	spec = strings.TrimSpace(spec)
	alias, isRuntime := strings.CutPrefix(spec, "runtime:")
	var asker dod.Asker
	var err error
	switch {
	case spec == "text" || spec == "":
		return nil, nil
	case isRuntime:
		asker, err = set.Judge(alias)
	case judge.Handles(spec):
		asker, err = judge.New(spec, judge.Options{Environ: environ})
	default:
		err = fmt.Errorf("this is no model: write text, runtime:ALIAS for an agent CLI of runtimes.yaml, anthropic:MODEL or openai:MODEL")
	}
	if err != nil {
		return nil, fmt.Errorf("%s=%s: %w", setting, spec, err)
	}
	return asker, nil
}
