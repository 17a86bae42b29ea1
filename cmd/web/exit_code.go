package main

import "fmt"

// exitCode ends a command with a code other than 0 or 1 of its own choice. All
// that is to be said has been printed when it is returned.
type exitCode int

// The codes of the checking commands, for use in other people's CI.
const (
	exitDone     exitCode = 0 // done, met
	exitNotDone  exitCode = 1 // not done, not met
	exitBadUsage exitCode = 2 // nothing was checked: bad flags, unreadable file, invalid text
)

// Error makes it an error for kong's Run methods.
func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// ExitCode is the process's exit code; kong looks for this method.
func (c exitCode) ExitCode() int { return int(c) }

// asError is nil for success, so that it can be returned from Run.
func (c exitCode) asError() error {
	if c == exitDone {
		return nil
	}
	return c
}
