package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"donewhen/models"
)

// Config is the server's settings, read from the environment once at start.
// README.md has the same table for people.
type Config struct {
	Addr           string          `env:"DONEWHEN_ADDR" envDefault:"127.0.0.1:8080"`
	Data           string          `env:"DONEWHEN_DATA" envDefault:"data"`
	BaseURL        string          `env:"DONEWHEN_BASE_URL"`
	Runtimes       string          `env:"DONEWHEN_RUNTIMES"`
	JudgeModel     string          `env:"DONEWHEN_JUDGE_MODEL" envDefault:"text"`
	EvaluatorModel string          `env:"DONEWHEN_EVALUATOR_MODEL"`
	MoreJudges     []string        `env:"DONEWHEN_MORE_JUDGES"`
	Canaries       int             `env:"DONEWHEN_CANARIES" envDefault:"0"`
	SummaryModel   string          `env:"DONEWHEN_SUMMARY_MODEL"`
	Workers        int             `env:"DONEWHEN_WORKERS" envDefault:"4"`
	CheckLimit     time.Duration   `env:"DONEWHEN_CHECK_LIMIT" envDefault:"30m"`
	CommandsBy     models.Role     `env:"DONEWHEN_COMMANDS_BY" envDefault:"lead"`
	MaxFileMB      int64           `env:"DONEWHEN_MAX_FILE_MB" envDefault:"50"`
	Backoff        []time.Duration `env:"DONEWHEN_BACKOFF" envDefault:"5s,30s"`
	Example        bool            `env:"DONEWHEN_EXAMPLE" envDefault:"true"`

	failpoint func(string) // the crash drill; see engine.Config
}

// readConfig reads and checks the settings. Every fault is named with its
// setting and what to write instead.
func readConfig() (Config, error) {
	cfg, err := env.ParseAs[Config]()
	if err != nil {
		return cfg, settingErrors(err)
	}
	return cfg, cfg.check()
}

func (c *Config) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		bad("DONEWHEN_ADDR %q is no address: write HOST:PORT, such as 127.0.0.1:8080", c.Addr)
	}
	if c.BaseURL != "" {
		u, err := url.Parse(c.BaseURL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
			bad("DONEWHEN_BASE_URL %q must be the address people open, such as https://donewhen.example.org, without a path", c.BaseURL)
		}
		c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	}
	if c.EvaluatorModel == "" {
		c.EvaluatorModel = c.JudgeModel
	}
	if c.CommandsBy != models.RoleLead && c.CommandsBy != models.RoleAdmin {
		bad("DONEWHEN_COMMANDS_BY %q must be lead or admin", c.CommandsBy)
	}
	if c.Workers < 1 || c.Workers > 256 {
		bad("DONEWHEN_WORKERS must be between 1 and 256")
	}
	if c.Canaries < 0 {
		bad("DONEWHEN_CANARIES must be 0 (never) or a number of judgings, such as 50")
	}
	if c.CheckLimit < time.Second {
		bad("DONEWHEN_CHECK_LIMIT must be at least 1s")
	}
	if c.MaxFileMB < 1 {
		bad("DONEWHEN_MAX_FILE_MB must be at least 1")
	}
	abs, err := filepath.Abs(c.Data)
	if err != nil {
		bad("DONEWHEN_DATA: %w", err)
	}
	c.Data = abs
	return errors.Join(errs...)
}

// listenHost says whether the server can be reached from other machines.
func (c Config) loopback() bool {
	host, _, _ := net.SplitHostPort(c.Addr)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (c Config) ensureData() error {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return fmt.Errorf("make the data folder: %w. Set DONEWHEN_DATA to a folder this user may write", err)
	}
	return nil
}
