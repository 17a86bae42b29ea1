package judge

import (
	_ "embed"
	"encoding/json"
	"regexp"
)

// Price is what a model costs, in US dollars per million tokens.
type Price struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	// CacheRead and CacheWrite are for input tokens of a prompt cache; 0 means that
	// they cost what other input costs.
	CacheRead  float64 `json:"cache_read,omitempty"`
	CacheWrite float64 `json:"cache_write,omitempty"`
}

// prices.json has the list prices of well-known models at the providers' own
// servers. A model that is not in it costs 0: unknown, not free.
//
//go:embed prices.json
var pricesJSON []byte

var builtInPrices = func() map[string]Price {
	var all map[string]Price
	if err := json.Unmarshal(pricesJSON, &all); err != nil {
		panic("prices.json: " + err.Error())
	}
	return all
}()

// dated is the end of a pinned version's name: claude-x-20251001, gpt-x-2025-08-07.
var dated = regexp.MustCompile(`-(?:\d{8}|\d{4}-\d\d-\d\d|latest)$`)

// cost is what an answer cost, by the model that gave it, otherwise by the one
// that was asked; 0 when neither has a known price.
func (c *client) cost(answered string, u usage) float64 {
	for _, model := range []string{answered, c.model} {
		for _, name := range []string{model, dated.ReplaceAllString(model, "")} {
			if p, ok := c.opts.Prices[name]; ok {
				return p.of(u)
			}
			if p, ok := builtInPrices[name]; ok {
				return p.of(u)
			}
		}
	}
	return 0
}

func (p Price) of(u usage) float64 {
	read, write := p.CacheRead, p.CacheWrite
	if read == 0 {
		read = p.Input
	}
	if write == 0 {
		write = p.Input
	}
	fresh := max(0, u.in-u.cacheRead-u.cacheWrite)
	return (float64(fresh)*p.Input + float64(u.cacheRead)*read + float64(u.cacheWrite)*write + float64(u.out)*p.Output) / 1e6
}
