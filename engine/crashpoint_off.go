//go:build !crashdrill

package engine

// crashPoint does nothing in a normal build; the crash drill builds with the
// tag crashdrill, and then the process kills itself at the named point.
func crashPoint(string) {}
