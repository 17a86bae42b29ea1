package views

import (
	"net/url"
	"strconv"
)

// ReplayPath is where a condition is tried on past passes: GET the form, POST it.
const ReplayPath = "/replay"

// ReplayPhasePath is ReplayPath with a phase's condition, for the passes of the
// phases of its name in its project.
func ReplayPhasePath(phaseID int64) string { return ReplayPath + "?phase=" + itoa(phaseID) }

// JudgesPath is how judges did.
const JudgesPath = "/judges"

// JudgesRangePath is JudgesPath over so many days.
func JudgesRangePath(days int) string { return JudgesPath + "?days=" + strconv.Itoa(days) }

// ReplayFilterPath is ReplayPath for the newest passes of a project (0 = all)
// and a phase name ("" = all).
func ReplayFilterPath(project int64, name string, last int) string {
	return ReplayPath + "?" + url.Values{"project": {itoa(project)}, "name": {name}, "last": {strconv.Itoa(last)}}.Encode()
}

// Where a judge is given a planted pass, and where its mark is taken off: POST.
const (
	PlantPath = JudgesPath + "/planted-pass"
	TrustPath = JudgesPath + "/trust"
)

// CanaryPath is one planted pass with what was asked and answered.
func CanaryPath(id int64) string { return "/canaries/" + itoa(id) }
