package dod_test

import (
	"testing"

	"donewhen/dod"
)

func TestDropped(t *testing.T) {
	const text = "- (must) tests pass -> run: make $ARG_TARGET\n- docs are there -> file: docs\n- it reads well -> judge\n- (info) small"
	args := map[string]string{"target": "test"}
	before := dod.Agreed{Criteria: dod.ParseCriteria(text), Args: args, Opinions: 2}
	for name, tc := range map[string]struct {
		text     string
		args     map[string]string
		opinions int
		want     []int // indexes in before
	}{
		"the same":                  {text, args, 2, nil},
		"in another order":          {"- docs are there -> file: docs\n- it reads well -> judge\n- (must) tests pass -> run: make $ARG_TARGET", args, 2, nil},
		"more is asked":             {text + "\n- and this", args, 3, nil},
		"a line became a must":      {"- (must) tests pass -> run: make $ARG_TARGET\n- (must) docs are there -> file: docs\n- it reads well -> judge", args, 2, nil},
		"the must is gone":          {"- docs are there -> file: docs\n- it reads well -> judge", args, 2, []int{1}},
		"the must is none":          {"- tests pass -> run: make $ARG_TARGET\n- docs are there -> file: docs\n- it reads well -> judge", args, 2, []int{1}},
		"for information only":      {"- (must) tests pass -> run: make $ARG_TARGET\n- (info) docs are there -> file: docs\n- it reads well -> judge", args, 2, []int{2}},
		"another check":             {"- (must) tests pass -> run: true\n- docs are there -> file: docs\n- it reads well -> judge", args, 2, []int{1}},
		"another value":             {text, map[string]string{"target": "nothing"}, 2, []int{1}},
		"the value is gone":         {text, nil, 2, []int{1}},
		"a value a script may read": {text, map[string]string{"target": "test", "level": "lenient"}, 2, []int{1}},
		"fewer judges":              {text, args, 1, []int{3}},
		"all is gone":               {"", nil, 2, []int{1, 2, 3}},
	} {
		var got []int
		for _, c := range dod.Dropped(before, dod.Agreed{Criteria: dod.ParseCriteria(tc.text), Args: tc.args, Opinions: tc.opinions}) {
			got = append(got, c.Index)
		}
		if len(got) != len(tc.want) {
			t.Errorf("%s: dropped %v, want %v", name, got, tc.want)
			continue
		}
		for i := range got {
			if got[i] != tc.want[i] {
				t.Errorf("%s: dropped %v, want %v", name, got, tc.want)
			}
		}
	}
}
