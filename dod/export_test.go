package dod

// CountReadings is how many different readings a text has.
func CountReadings(raw string) int {
	n := 0
	for range readings(raw) {
		n++
	}
	return n
}
