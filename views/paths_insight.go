package views

import (
	"net/url"
	"strconv"
)

// InsightPath is what ended lately, in numbers.
const InsightPath = "/insight"

// InsightRangePath is InsightPath over so many days.
func InsightRangePath(days int) string { return InsightPath + "?days=" + strconv.Itoa(days) }

// SearchPath answers with the plans that fit, as the palette's entries.
const SearchPath = "/search"

// PlansSearchPath is the list of plans that have the words in their title or goal.
func PlansSearchPath(words string) string {
	if words == "" {
		return PlansPath
	}
	return PlansPath + "?" + url.Values{"q": {words}}.Encode()
}
