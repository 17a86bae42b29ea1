package dod

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Criterion is one testable line of a definition of done or of a done_when.
type Criterion struct {
	// Index is the position in reading order, from 1. Equal texts keep different ones.
	Index int
	// Text is the line without bullet, box, level and check.
	Text string
	// Pattern is the Go regular expression of a match: or absent: check, else "".
	Pattern string
	Level   Level
	Check   Check
}

// hasPattern reports whether a pattern is to be matched. An empty or blank one
// counts as none, because it would match everything.
func (c Criterion) hasPattern() bool { return strings.TrimSpace(c.Pattern) != "" }

// criterionJSON is the stored and printed form.
type criterionJSON struct {
	Index   int    `json:"index"`
	Text    string `json:"text"`
	Pattern string `json:"pattern"`
	Level   Level  `json:"level"`
	Check   string `json:"check"`
}

// MarshalJSON writes {"index","text","pattern","level","check"}, check in its
// written form.
func (c Criterion) MarshalJSON() ([]byte, error) {
	level := c.Level
	if level == "" {
		level = Required
	}
	// "<" and "&" are left to the outer encoder: json.Marshal would escape them here
	// for good, also where the outer one is told not to.
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(criterionJSON{Index: c.Index, Text: c.Text, Pattern: c.Pattern, Level: level, Check: c.Check.String()})
	return bytes.TrimSpace(b.Bytes()), err
}

// UnmarshalJSON reads what MarshalJSON wrote. A check or level of an unknown
// kind is an error, so that a stored criterion never turns into a weaker one.
func (c *Criterion) UnmarshalJSON(data []byte) error {
	var in criterionJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("read criterion: %w", err)
	}
	check := Check{Kind: CheckText}
	if in.Check != "" {
		var err error
		check, err = parseCheck(in.Check)
		if kind, arg := cutCheckWord(in.Check); arg == "" && (kind == CheckRun || kind == CheckFile) {
			// An argument may have been empty; such a check is kept and cannot pass.
			check, err = Check{Kind: kind}, nil
		}
		if err != nil {
			return fmt.Errorf("read criterion %d, check %q: %w", in.Index, in.Check, err)
		}
	}
	switch in.Level {
	case "":
		in.Level = Required
	case Required, Info, Must:
	default:
		return fmt.Errorf("read criterion %d: unknown level %q", in.Index, in.Level)
	}
	*c = Criterion{Index: in.Index, Text: in.Text, Pattern: in.Pattern, Level: in.Level, Check: check}
	return nil
}
