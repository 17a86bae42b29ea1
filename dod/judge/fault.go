package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"donewhen/dod"
)

// maxSaid bounds what is repeated of a server's own words, in bytes.
const maxSaid = 600

// fault is a question that was not answered.
type fault struct {
	err error
	// again: the server is overloaded, so the same question may be sent once more,
	// after wait if the server asked for a pause.
	again bool
	wait  time.Duration
	// quota: the error is to be a dod.QuotaError with until.
	quota bool
	until time.Time
	tries int
}

// final is the error for the caller.
func (f fault) final() error {
	err := f.err
	if f.tries > 1 {
		err = fmt.Errorf("%w, after %d tries", err, f.tries)
	}
	if f.quota {
		return &dod.QuotaError{Until: f.until, Err: err}
	}
	return err
}

// fault says what went wrong and what to do about it, without secrets.
func (c *client) fault(ctx context.Context, rec *record, err error) fault {
	plain := func(format string, args ...any) fault {
		return fault{err: redacted{c.redact(fmt.Sprintf(format, args...)), err}}
	}
	if ctx.Err() != nil {
		return c.stopped(ctx, rec)
	}
	said := said(rec.body)
	switch code := rec.status; {
	case code == 0:
		return plain("%s cannot be reached: %v; is %s right, and does the server run?", c.server, bare(err), c.urlEnv)
	case code >= 300 && code < 400:
		return plain("%s redirects elsewhere, which is not followed; set %s to the final address", c.server, c.urlEnv)
	case errors.Is(rec.err, errTooLong):
		return plain("%s sent more than %d MB", c.server, maxBody>>20)
	case rec.err != nil:
		return plain("the connection was cut in the middle of the reply (%v)", bare(rec.err))
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		if !c.hasKey {
			return plain("%s wants a key (%d%s); set %s", c.server, code, said, c.keyEnv)
		}
		return plain("%s refused the key (%d%s); set %s to a valid one that may use %s", c.server, code, said, c.keyEnv, c.model)
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
		return plain("%s does not know the model %s or is no such API (%d%s); check the model's name and %s", c.server, c.model, code, said, c.urlEnv)
	case code == http.StatusTooManyRequests:
		return c.tooMany(rec, plain("%s refused for now (429%s)", c.server, said))
	case code == http.StatusPaymentRequired:
		return plain("the account at %s cannot pay (402%s)", c.server, said)
	case code >= 500:
		f := plain("%s is overloaded or broken (%d%s)", c.server, code, said)
		f.again = code != http.StatusNotImplemented
		f.wait, _ = retryAfter(rec.header, c.now())
		return f
	case code >= 400:
		return plain("%s refused the question (%d%s)", c.server, code, said)
	case !rec.whole() || !strings.Contains(mediaType(rec.header), "json"):
		return plain("%s answered with %s instead of a JSON object%s; is %s right?", c.server, mediaType(rec.header), said, c.urlEnv)
	}
	return plain("the answer of %s could not be read: %v", c.server, bare(err))
}

// stopped is the fault of a question that ran out of time or was cancelled.
func (c *client) stopped(ctx context.Context, rec *record) fault {
	cause := context.Cause(ctx)
	var limit *timeLimit
	if !errors.As(cause, &limit) {
		return fault{err: fmt.Errorf("the judge was stopped: %w", cause)}
	}
	if rec.status == 0 {
		return fault{err: fmt.Errorf("%w from %s", cause, c.server)}
	}
	return fault{err: fmt.Errorf("%w from %s, only %d bytes of one", cause, c.server, len(rec.body))}
}

// tooMany turns a 429 into a quota fault. One that says that the account has no
// credit does not mend itself and is an ordinary error.
func (c *client) tooMany(rec *record, f fault) fault {
	if hasAny(strings.ToLower(string(rec.body)), "insufficient_quota", "credit balance") {
		f.err = fmt.Errorf("%w; the account has no credit left", f.err)
		return f
	}
	f.quota, f.until = true, quotaReset(rec.header, c.now())
	if left := f.until.Sub(c.now()); !f.until.IsZero() && left <= shortQuota {
		f.again, f.wait = true, left
	}
	return f
}

// redacted is an error with a text of our own over the SDK's, which is kept for
// errors.As but never printed: it has the URL and the server's words unredacted.
type redacted struct {
	text string
	err  error
}

func (r redacted) Error() string { return r.text }
func (r redacted) Unwrap() error { return r.err }

// bare is an error without the URL that net/http puts before it.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// said is what a server's error body says, as ": text" in one line, or "".
func said(body []byte) string {
	var all struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	text := ""
	if json.Unmarshal(body, &all) == nil {
		var inner struct {
			Message string `json:"message"`
		}
		switch {
		case json.Unmarshal(all.Error, &inner) == nil && inner.Message != "":
			text = inner.Message
		case json.Unmarshal(all.Error, &text) == nil && text != "":
		case all.Message != "":
			text = all.Message
		case len(all.Detail) > 0:
			text = string(all.Detail)
		}
	}
	if text == "" {
		text = string(body)
	}
	if text = oneLine(text); text == "" {
		return ""
	}
	return ": " + text
}

// oneLine folds blanks and control signs and cuts the text at maxSaid.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if len(text) <= maxSaid {
		return text
	}
	cut := maxSaid
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

func mediaType(h http.Header) string {
	if t, _, _ := strings.Cut(h.Get("Content-Type"), ";"); strings.TrimSpace(t) != "" {
		return strings.TrimSpace(t)
	}
	return "something"
}
