// Package models holds the rows, typed statuses and allowed moves of
// donewhen. It imports nothing of ours and knows neither database nor HTTP.
package models

import (
	"errors"
	"fmt"
	"time"
)

// Code says what kind of refusal an Error is; handlers map it to an HTTP status.
type Code string

const (
	CodeInvalid     Code = "invalid"     // what was typed cannot be taken (422)
	CodeNotFound    Code = "not_found"   // there is no such thing (404)
	CodeConflict    Code = "conflict"    // something moved meanwhile, or the state does not allow it (409)
	CodeForbidden   Code = "forbidden"   // the reader's role does not allow it (403)
	CodeUnavailable Code = "unavailable" // it cannot be done now, try again later (503)
	CodeTooMany     Code = "too_many"    // tried too often; RetryAfter says how long to wait (429)
	CodeInternal    Code = "internal"    // our fault; the message is not for people (500)
)

// Error is the one error type that carries a sentence for a person. Any other
// error is internal: it is logged, and the page says so without its text.
type Error struct {
	Code       Code
	Message    string            // one sentence that says what to do next
	Fields     map[string]string // form field -> message, for CodeInvalid
	Details    []string          // further lines, such as the gate's reasons
	RetryAfter time.Duration     // for CodeTooMany
}

func (e *Error) Error() string { return e.Message }

// Errorf makes an Error with a formatted sentence.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Invalid makes a CodeInvalid error whose message belongs to one form field.
func Invalid(field, format string, args ...any) *Error {
	m := fmt.Sprintf(format, args...)
	return &Error{Code: CodeInvalid, Message: m, Fields: map[string]string{field: m}}
}

// CodeOf returns the code of the first Error in err's chain, CodeInternal for
// any other error and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
