package views

import "strconv"

// count is a number with its noun: "1 phase", "3 phases".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
