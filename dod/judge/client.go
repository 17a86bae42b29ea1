package judge

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"donewhen/dod"
)

const (
	// maxTries is how often one question is sent to a server that is overloaded.
	maxTries = 3
	// firstWait is the pause before the second try; each further one is four times
	// as long.
	firstWait = time.Second
	// longestWait is the longest pause that a server may ask for inside a question.
	// Whatever needs longer is left to the caller, who can show it.
	longestWait = 20 * time.Second
	// shortQuota is the longest reset of a rate limit that is waited for inside a
	// question: asking anew would repeat all the deterministic checks.
	shortQuota = 5 * time.Second
)

// client is an asker; sdk is what differs between the providers.
type client struct {
	spec, model    string
	opts           Options
	server         string // the base URL as it is shown
	urlEnv, keyEnv string
	hasKey         bool
	http           *http.Client
	secrets        []string
	sdk            interface {
		send(ctx context.Context, q dod.Question, s shape) (answer, error)
	}
	plain atomic.Int32 // the shape that the server was found to accept
	now   func() time.Time
	wait  func(context.Context, time.Duration) error
}

var _ dod.Asker = (*client)(nil)

// shape is how much of the request's optional parts is left out, because a
// compatible server refused them.
type shape int32

const (
	noSchema shape = 1 << iota // without structured output
	noLimit                    // without a limit of tokens
)

func (s shape) without(part shape) bool { return s&part != 0 }

// answer is what a provider's message holds.
type answer struct {
	text, model string
	// fault says why the text is no whole reply, "" when it is one.
	fault string
	usage usage
}

// usage is in tokens; in includes what was read from or written to a cache.
type usage struct{ in, cacheRead, cacheWrite, out int64 }

// Evaluator is the model spec, as in "anthropic:<model>".
func (c *client) Evaluator() string { return c.spec }

// Ask puts the question and returns the model's text word for word. An empty text
// with a normal end is an empty reply and no error. Errors name what to do next
// and hold no secret; a rate limit or quota is a *dod.QuotaError. Reply.Raw has
// what came back nevertheless, and tokens and cost are noted either way.
func (c *client) Ask(ctx context.Context, q dod.Question) (dod.Reply, error) {
	limit := &timeLimit{c.opts.Timeout}
	ctx, cancel := context.WithTimeoutCause(ctx, c.opts.Timeout, limit)
	defer cancel()
	reply, err := c.ask(ctx, q)
	reply.Raw = c.redact(reply.Raw)
	return reply, err
}

// ask sends the question until it is answered, refused, or not worth another try.
func (c *client) ask(ctx context.Context, q dod.Question) (dod.Reply, error) {
	began := shape(c.plain.Load())
	s := began
	for try := 1; ; {
		rec := &record{}
		a, err := c.sdk.send(withRecord(ctx, rec), q, s)
		if err == nil && !rec.whole() {
			err = errors.New("the body is not one JSON object")
		}
		if err == nil {
			if s != began {
				c.plain.Store(int32(s)) // further questions need not find it out again
			}
			reply := dod.Reply{
				Raw: a.text, Model: a.model,
				InputTokens: a.usage.in, OutputTokens: a.usage.out, CostUSD: c.cost(a.model, a.usage),
			}
			if a.fault != "" {
				return reply, errors.New(c.redact(a.fault))
			}
			return reply, nil
		}
		f := c.fault(ctx, rec, err)
		f.tries = try
		if part := refusedPart(rec, s); part != 0 && ctx.Err() == nil {
			s |= part
			continue
		}
		if f.again && try < maxTries && c.pause(ctx, try, f.wait) {
			try++
			continue
		}
		return dod.Reply{Raw: string(rec.body), Model: c.model}, f.final()
	}
}

// pause waits before the next try; false when there is no time for it.
func (c *client) pause(ctx context.Context, try int, asked time.Duration) bool {
	d := firstWait
	for range try - 1 {
		d *= 4
	}
	// A little more or less, so that questions asked together do not return together.
	d = max(asked, d*3/4+rand.N(d/2))
	if asked > longestWait {
		return false
	}
	if end, ok := ctx.Deadline(); ok && end.Sub(c.now()) <= d {
		return false
	}
	return c.wait(ctx, d) == nil
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// refusedPart says which optional part of the request a server's 400 or 422 may
// be about: the limit of tokens when it names one, otherwise the structured
// output, since servers word that in many ways. 0 when nothing is left to leave
// out, or the answer is plainly about something else.
func refusedPart(rec *record, s shape) shape {
	if rec.status != http.StatusBadRequest && rec.status != http.StatusUnprocessableEntity {
		return 0
	}
	said := strings.ToLower(string(rec.body))
	if hasAny(said, "credit balance", "model_not_found", "invalid_api_key", "api key") {
		return 0
	}
	if !s.without(noLimit) && hasAny(said, "max_completion_tokens", "max_tokens", "maximum context length") {
		return noLimit
	}
	if !s.without(noSchema) {
		return noSchema
	}
	return 0
}

func hasAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// redact takes the judge's own secrets out of a text.
func (c *client) redact(s string) string {
	for _, secret := range c.secrets {
		s = strings.ReplaceAll(s, secret, "[redacted]")
	}
	return s
}

// timeLimit is the cause of a question's end at its limit. It is an
// os.ErrDeadlineExceeded for whoever asks.
type timeLimit struct{ after time.Duration }

func (l *timeLimit) Error() string        { return fmt.Sprintf("no whole reply within %s", l.after) }
func (l *timeLimit) Is(target error) bool { return target == context.DeadlineExceeded }
