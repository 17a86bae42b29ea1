// Package runner carries out agents, checks and judges as processes of their
// own: the shell, the agent CLIs that the operator declares in runtimes.yaml,
// `run:` checks, and CLI judges.
//
// Everything here goes through one managed process (process.go): its own
// process group, an environment built from nothing, stdin fed and closed, its
// output read as bytes to the last one, a time limit, and an end (TERM, grace,
// KILL) that takes children along, also those that left the group.
//
// Agents run under the server's own user: a process group is tidiness, no
// security boundary.
package runner
