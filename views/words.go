package views

import "strconv"

// count is a number with its noun: "1 phase", "3 phases".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// short is what the narrow list says of a plan in one line, behind its project.
func (r PlanLine) short() string {
	s := ", " + strconv.Itoa(r.Done) + " of " + count(r.Phases, "phase", "phases")
	if r.Waits != "" {
		s += ". " + r.Waits
	}
	return s
}
