package dod

import (
	"time"
)

// QuotaError is an Asker's error for a question that was refused because a quota
// or rate limit is used up. It is nobody's fault and mends itself: asking again
// at Until is right, asking before it is not.
type QuotaError struct {
	// Until is when the provider says that there is quota again; the zero time when
	// it does not say.
	Until time.Time
	// Err is what the provider answered, fit for a page.
	Err error
}

// Error is the provider's answer with the time of the reset, in UTC.
func (e *QuotaError) Error() string {
	text := "the quota is used up"
	if e.Err != nil {
		text = e.Err.Error()
	}
	if e.Until.IsZero() {
		return text
	}
	return text + "; there is quota again at " + e.Until.UTC().Format("15:04 UTC on 2 January")
}

// Unwrap gives what the provider answered.
func (e *QuotaError) Unwrap() error { return e.Err }

// WithheldError is an Asker's error for a question that was never put, because
// whoever pays for it allows no more. It is nobody's fault: the judge was not
// asked, so nothing it did failed.
type WithheldError struct {
	// Reason is one sentence for a page: what is used up.
	Reason string
}

// Error is the reason.
func (e *WithheldError) Error() string { return e.Reason }

// Withheld says whether a question about a criterion that counts was never put
// (a WithheldError), and why. Such an outcome is no judgement and no trouble of
// the judge's either.
func (o Outcome) Withheld() (reason string, ok bool) {
	for _, a := range o.Answers {
		if a.Withheld && (a.Criterion.Level.Counts() || o.unasked()) {
			return a.Verdict.Reason, true
		}
	}
	return "", false
}

// unasked says whether a criterion that counts went unasked because of what
// became of another question.
func (o Outcome) unasked() bool {
	for _, r := range o.Results {
		if r.Criterion.Level.Counts() && r.Kind == KindEvaluatorError {
			return true
		}
	}
	return false
}

// QuotaUntil says until when a judging has to wait for quota: the latest time
// that an answer names. ok is false when no answer names one.
func (o Outcome) QuotaUntil() (until time.Time, ok bool) {
	for _, a := range o.Answers {
		if a.QuotaUntil.After(until) {
			until, ok = a.QuotaUntil, true
		}
	}
	return until, ok
}
