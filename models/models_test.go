package models

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

func TestA5_05_ClampIterations(t *testing.T) {
	for _, tc := range []struct{ n, want int }{
		{0, 1}, {-3, 1}, {math.MinInt, 1}, {1, 1}, {2, 2}, {19, 19}, {20, 20}, {21, 20}, {1_000_000, 20}, {math.MaxInt, 20},
	} {
		if got := ClampIterations(tc.n); got != tc.want {
			t.Errorf("ClampIterations(%d) = %d, want %d", tc.n, got, tc.want)
		}
	}
}

func TestRoleCan(t *testing.T) {
	for _, tc := range []struct {
		role Role
		can  map[Role]bool
	}{
		{RoleViewer, map[Role]bool{RoleViewer: true}},
		{RoleLead, map[Role]bool{RoleViewer: true, RoleLead: true}},
		{RoleAdmin, map[Role]bool{RoleViewer: true, RoleLead: true, RoleAdmin: true}},
		{"", nil},
		{"root", nil},
		{"Admin", nil},
	} {
		for _, want := range []Role{RoleViewer, RoleLead, RoleAdmin, "", "root", "Admin"} {
			if got := tc.role.Can(want); got != tc.can[want] {
				t.Errorf("Role(%q).Can(%q) = %v, want %v", tc.role, want, got, tc.can[want])
			}
		}
	}
}

func TestCodeOf(t *testing.T) {
	conflict := Errorf(CodeConflict, "it is now %s", "running")
	for _, tc := range []struct {
		name string
		err  error
		want Code
	}{
		{"nil", nil, ""},
		{"ours", conflict, CodeConflict},
		{"wrapped", fmt.Errorf("move: %w", conflict), CodeConflict},
		{"joined", errors.Join(errors.New("first"), conflict), CodeConflict},
		{"any other is internal", errors.New("disk full"), CodeInternal},
		{"a field's", Invalid("name", "Give it a name."), CodeInvalid},
	} {
		if got := CodeOf(tc.err); got != tc.want {
			t.Errorf("%s: CodeOf = %q, want %q", tc.name, got, tc.want)
		}
	}
	if e := Invalid("name", "Give it a %s.", "name"); e.Fields["name"] != "Give it a name." || e.Message != e.Fields["name"] {
		t.Errorf("Invalid: %+v", e)
	}
}

func TestNames(t *testing.T) {
	if got := (AgentSpec{Runtime: "shell"}).Label(); got != "shell" {
		t.Errorf("label without a name: %q", got)
	}
	if got := (AgentSpec{Runtime: "shell", Name: "writer"}).Label(); got != "writer" {
		t.Errorf("label with a name: %q", got)
	}
	if got := (Pass{Iteration: 1}).Number(); got != 2 {
		t.Errorf("iteration 1 is pass %d, want 2", got)
	}
}
