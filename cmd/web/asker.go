package main

import (
	"fmt"
	"slices"
	"strings"

	"donewhen/dod"
	"donewhen/dod/judge"
	"donewhen/engine/runner"
)

// moreJudges resolves DONEWHEN_MORE_JUDGES, a list of model specs, in its order.
// Blank places are passed over; literal matching asks nobody and is refused, and
// so is a spec that stands there twice.
func moreJudges(specs []string, set *runner.Set, environ func(string) string) ([]dod.Asker, error) {
	const setting = "DONEWHEN_MORE_JUDGES"
	var out []dod.Asker
	for _, spec := range specs {
		spec = strings.TrimSpace(spec)
		if spec == "" {
			continue
		}
		if spec == "text" {
			return nil, fmt.Errorf("%s: text asks nobody, so it cannot give an opinion: leave it out of the list", setting)
		}
		asker, err := askerFor(setting, spec, set, environ)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(a dod.Asker) bool { return a.Evaluator() == asker.Evaluator() }) {
			return nil, fmt.Errorf("%s: %s stands there twice: name each judge once", setting, spec)
		}
		out = append(out, asker)
	}
	return out, nil
}

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
