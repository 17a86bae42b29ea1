package judge

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"donewhen/dod"
)

const (
	defaultTimeout   = 2 * time.Minute
	defaultMaxTokens = 8192
)

// Options are the settings of a judge; the zero value reads the process's
// environment and has the defaults.
type Options struct {
	// Environ looks a variable up, "" for one that is not set; nil means os.Getenv.
	// Read are ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL,
	// OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_ORG_ID and OPENAI_PROJECT_ID, all
	// once, in New. With a base URL a key is not needed.
	Environ func(name string) string
	// Timeout is the time limit of one question, everything in it that is asked
	// again included; 0 means 2 minutes.
	Timeout time.Duration
	// MaxTokens bounds what a model may write, its thinking included; 0 means 8192.
	// More than about 21,000 is refused by the Anthropic SDK without streaming.
	MaxTokens int
	// Prices are added to the built-in ones and win over them, by model name.
	Prices map[string]Price
}

// Handles says whether New is the constructor for a model spec.
func Handles(spec string) bool {
	name, _, found := strings.Cut(spec, ":")
	return found && (name == "anthropic" || name == "openai")
}

// New makes the asker of the spec anthropic:<model> or openai:<model>. Nothing is
// sent yet. An error says which setting is missing or malformed. The asker may be
// used by several goroutines at once.
func New(spec string, opts Options) (dod.Asker, error) {
	name, model, _ := strings.Cut(spec, ":")
	if !Handles(spec) {
		return nil, fmt.Errorf("%q is no model over HTTP; write anthropic:<model> or openai:<model>", spec)
	}
	if model == "" || strings.ContainsFunc(model, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("%q names no model; write it like %s:<model>, without blanks", spec, name)
	}
	if opts.Environ == nil {
		opts.Environ = os.Getenv
	}
	if opts.Timeout <= 0 {
		opts.Timeout = defaultTimeout
	}
	if opts.MaxTokens <= 0 {
		opts.MaxTokens = defaultMaxTokens
	}
	c := &client{spec: spec, model: model, opts: opts, http: newHTTPClient(), now: time.Now, wait: wait}
	var err error
	if name == "anthropic" {
		err = newAnthropic(c)
	} else {
		err = newOpenAI(c)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// setting reads a variable without the blanks that are pasted along.
func (o Options) setting(name string) string { return strings.TrimSpace(o.Environ(name)) }

// baseURL reads and checks the base URL in the variable env, falling back to the
// provider's own. What is shown in messages is without user and query.
func (c *client) baseURL(env, fallback string) (string, error) {
	c.urlEnv = env
	base := c.opts.setting(env)
	if base == "" {
		base = fallback
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%s is no address of a server; write it like %s", env, fallback)
	}
	if password, set := u.User.Password(); set {
		c.keep(password)
	}
	for _, values := range u.Query() {
		for _, v := range values {
			c.keep(v)
		}
	}
	c.server = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	return base, nil
}

// keep notes a secret, so that it is taken out of errors and replies.
func (c *client) keep(secret string) {
	if len(secret) >= 4 { // shorter ones would blank out ordinary words
		c.secrets = append(c.secrets, secret)
	}
}

// verdictSchema is the contract of a reply as a JSON schema, for providers that
// can be held to one. ParseVerdict checks it all the same.
func verdictSchema() map[string]any {
	return map[string]any{
		"type": "object",
		"properties": map[string]any{
			"met":    map[string]any{"type": "boolean"},
			"reason": map[string]any{"type": "string", "description": "one or two sentences: what shows it, or what is missing"},
		},
		"required":             []string{"met", "reason"},
		"additionalProperties": false,
	}
}
