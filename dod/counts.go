package dod

import "fmt"

// Counts is what became of a summary's criteria. Its words are the only ones for
// it: of the gate, the checklist, the outcome and the merge commit.
type Counts struct {
	Required, Passed, Waived int // Waived: required, not passed, and need not
	Info, InfoPassed         int
}

// Counts counts the results; waived says which required criteria need not pass.
func (s Summary) Counts(waived func(Criterion) bool) Counts {
	var c Counts
	for _, r := range s.Results {
		passed := r.Status == Passed
		switch {
		case !r.Criterion.Level.Counts():
			c.Info++
			if passed {
				c.InfoPassed++
			}
			continue
		case passed:
			c.Passed++
		case waived(r.Criterion):
			c.Waived++
		}
		c.Required++
	}
	return c
}

// Words are about what is required: "2 of 3 required criteria passed, 1 waived".
func (c Counts) Words() string {
	var s string
	switch {
	case c.Required == 0:
		return "Nothing is required"
	case c.Passed < c.Required:
		s = fmt.Sprintf("%d of %s passed", c.Passed, pluralCriteria(c.Required))
	case c.Required == 1:
		s = "The required criterion passed"
	default:
		s = fmt.Sprintf("All %d required criteria passed", c.Required)
	}
	if c.Waived > 0 {
		s += fmt.Sprintf(", %d waived", c.Waived)
	}
	return s
}

// Sentence is Words with what was only for information.
func (c Counts) Sentence() string {
	s := c.Words() + "."
	if c.Info > 0 {
		s += fmt.Sprintf(" %d of %s passed.", c.InfoPassed, pluralWords(c.Info, "informational criterion", "informational criteria"))
	}
	return s
}
