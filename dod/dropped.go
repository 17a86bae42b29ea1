package dod

import "slices"

// Agreed is what a definition of done asks for: its criteria, filled, the
// arguments that its commands read, and how many judges its judged lines ask.
type Agreed struct {
	Criteria []Criterion       `json:"criteria"`
	Args     map[string]string `json:"args,omitempty"`
	Opinions int               `json:"opinions"`
}

// Dropped are the required criteria of before that after does not ask for as
// strictly any more: taken out, worded or checked otherwise, of a lower level,
// carried out with other values, or asked of fewer judges. A criterion that
// only moved, or became a (must), is not among them.
func Dropped(before, after Agreed) []Criterion {
	var dropped []Criterion
	for _, c := range before.Criteria {
		if c.Level != Info && !slices.ContainsFunc(after.Criteria, func(now Criterion) bool { return keeps(before, after, c, now) }) {
			dropped = append(dropped, c)
		}
	}
	return dropped
}

func keeps(before, after Agreed, was, now Criterion) bool {
	if was.Text != now.Text || was.Pattern != now.Pattern || was.Check != now.Check || now.Level == Info || was.Level == Must && now.Level != Must {
		return false
	}
	switch was.Check.Kind {
	case CheckRun: // a script that it starts may read any of them
		return slices.Equal(ArgEnv(before.Args), ArgEnv(after.Args))
	case CheckText, CheckJudge:
		return after.Opinions >= before.Opinions
	}
	return true
}
