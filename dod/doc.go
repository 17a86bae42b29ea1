// Package dod answers one question: is it done?
//
// It reads a definition of done or a done_when (ParseCriteria), fills it with a
// plan's arguments (FillCriteria), evaluates it (TextMatch, Suite), reads a
// judge's reply (ParseVerdict), sums up (Summary) and decides whether a plan may
// be applied (Gate).
//
// The package is pure: no database, no HTTP, no processes and no clock of its
// own. What touches the world (a run: check, a file: check, a model) comes in as
// a function or as an Asker.
//
// One rule decides every doubt here: unsure means not done. Nothing that is
// missing, unreadable, stale, skipped or failed ever counts as a pass.
package dod
