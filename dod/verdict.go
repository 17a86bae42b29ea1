package dod

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// VerdictKind tells a judgement from trouble.
type VerdictKind string

const (
	// KindVerdict: the judge answered in the agreed form. Only this kind can be met.
	KindVerdict VerdictKind = "verdict"
	// KindInvalidReply: something came back, an empty reply included, and it is not
	// in the agreed form.
	KindInvalidReply VerdictKind = "invalid_reply"
	// KindEvaluatorError: nothing usable came back (transport, time limit, non-zero
	// exit, refusal, cut off).
	KindEvaluatorError VerdictKind = "evaluator_error"
)

// Verdict is a judge's answer after reading it strictly.
type Verdict struct {
	Met bool `json:"met"`
	// Kind says whether this is a judgement at all; Met is false for every other kind.
	Kind VerdictKind `json:"kind"`
	// Reason is the judge's reason, or what is wrong with the reply.
	Reason string `json:"reason"`
}

// ParseVerdict is the one place where a raw reply becomes a verdict. The reply,
// trimmed, must be exactly one JSON object with exactly "met" (a boolean) and
// "reason" (a string that shows something), each once, in exact case. One code fence that
// spans the whole reply is taken off. Everything else is an invalid reply and
// not met: no prose around the object, no first or last object of several, no
// repair, no truthiness.
func ParseVerdict(raw string) Verdict {
	met, reason, err := scanVerdict(raw)
	if err != nil {
		return Verdict{Kind: KindInvalidReply, Reason: err.Error()}
	}
	return Verdict{Met: met, Kind: KindVerdict, Reason: reason}
}

// ErrorVerdict is the verdict for a question that brought nothing usable back.
// It is never met; its reason is the error, word for word.
func ErrorVerdict(err error) Verdict {
	reason := "the judge could not be asked"
	if err != nil && err.Error() != "" {
		reason = err.Error()
	}
	return Verdict{Kind: KindEvaluatorError, Reason: reason}
}

// scanVerdict reads token by token, because json.Unmarshal takes "Met" for
// "met", lets the last of two equal names win and a Decoder ignores what follows.
func scanVerdict(raw string) (met bool, reason string, err error) {
	reply := unfence(strings.TrimSpace(raw))
	if reply == "" {
		return false, "", errors.New("the reply is empty")
	}
	if !utf8.ValidString(reply) {
		return false, "", errors.New("the reply is not valid UTF-8")
	}
	if reply[0] != '{' {
		return false, "", errors.New("the reply is not a JSON object alone: it does not begin with {")
	}
	dec := json.NewDecoder(strings.NewReader(reply))
	if _, err := dec.Token(); err != nil {
		return false, "", fmt.Errorf("the reply is not a JSON object: %w", err)
	}
	var haveMet, haveReason bool
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return false, "", fmt.Errorf("the reply is not valid JSON: %w", err)
		}
		name, _ := token.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return false, "", fmt.Errorf("the reply is not valid JSON: %w", err)
		}
		switch {
		case name == "met" && !haveMet:
			haveMet = true
			switch string(value) {
			case "true":
				met = true
			case "false":
			default:
				return false, "", errors.New(`"met" is not a JSON boolean`)
			}
		case name == "reason" && !haveReason:
			haveReason = true
			if !bytes.HasPrefix(value, []byte(`"`)) {
				return false, "", errors.New(`"reason" is not a string`)
			}
			if err := json.Unmarshal(value, &reason); err != nil {
				return false, "", fmt.Errorf(`"reason" cannot be read: %w`, err)
			}
		case name == "met" || name == "reason":
			return false, "", fmt.Errorf("the name %q stands in the reply twice", name)
		default:
			return false, "", fmt.Errorf(`the reply has the name %.60q; only "met" and "reason" are allowed`, name)
		}
	}
	if _, err := dec.Token(); err != nil {
		return false, "", errors.New("the reply is not valid JSON: the object is not closed")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return false, "", errors.New("the reply has text after the JSON object")
	}
	// The scan above decides what is in the object; Valid has the last word on
	// its grammar, should the token reader ever be more lenient.
	if !json.Valid([]byte(reply)) {
		return false, "", errors.New("the reply is not valid JSON")
	}
	switch {
	case !haveMet:
		return false, "", errors.New(`the reply has no "met"`)
	case !haveReason:
		return false, "", errors.New(`the reply has no "reason"`)
	case Blank(reason):
		return false, "", errors.New(`"reason" is empty`)
	}
	return met, reason, nil
}

// unfence takes off one code fence that spans the whole reply: a first line of
// three or more back ticks, alone or with "json", and a last line of as many.
// Anything else is returned as it is and then fails as JSON.
func unfence(reply string) string {
	opening, rest, found := strings.Cut(reply, "\n")
	ticks := len(opening) - len(strings.TrimLeft(opening, "`"))
	if !found || ticks < 3 {
		return reply
	}
	if info := strings.TrimSpace(opening[ticks:]); info != "" && !strings.EqualFold(info, "json") {
		return reply
	}
	end := strings.LastIndexByte(rest, '\n')
	if end < 0 || rest[end+1:] != strings.Repeat("`", ticks) {
		return reply
	}
	return strings.TrimSpace(rest[:end])
}
