package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"donewhen/engine"
	"donewhen/engine/runner"
	"donewhen/engine/workspace"
	"donewhen/handlers"
	"donewhen/models/store"
	"donewhen/static"
)

// App is the whole server: made by NewApp, run by Run, ended by Close. Tests
// use the same wiring on port 0 and a temporary folder.
type App struct {
	cfg      Config
	log      *slog.Logger
	accounts *engine.Accounts
	engine   *engine.Engine
	store    *store.Store
	listener net.Listener
	server   *http.Server
	closers  []func() error // last one first
	once     sync.Once
}

// NewApp takes the data folder, makes the rows true again and listens. When it
// returns an error nothing is left open.
func NewApp(ctx context.Context, cfg Config, log *slog.Logger) (_ *App, err error) {
	a := &App{cfg: cfg, log: log}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	if err := static.Check(); err != nil {
		return nil, err
	}
	if err := cfg.ensureData(); err != nil {
		return nil, err
	}
	release, err := store.Lock(cfg.Data)
	if err != nil {
		return nil, err
	}
	a.later(func() error { release(); return nil })
	// The address is taken before anything is changed: a busy port is found at once.
	if a.listener, err = net.Listen("tcp", cfg.Addr); err != nil {
		return nil, fmt.Errorf("listen on %s: %w. Is another server there? Set DONEWHEN_ADDR to another address", cfg.Addr, err)
	}
	a.later(func() error { return ignoreClosed(a.listener.Close()) })
	if err := a.open(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// open makes the parts, from the bottom up.
func (a *App) open(ctx context.Context) error {
	cfg := a.cfg
	db, err := store.Open(ctx, filepath.Join(cfg.Data, "donewhen.db"), store.Options{})
	if err != nil {
		return err
	}
	a.store = db
	a.later(db.Close)
	logs, err := store.OpenLogs(ctx, filepath.Join(cfg.Data, "logs.db"), store.LogOptions{})
	if err != nil {
		return err
	}
	a.later(logs.Close)
	spaces, err := workspace.Open(workspace.Config{Dir: filepath.Join(cfg.Data, "git"), MaxFileBytes: cfg.MaxFileMB << 20})
	if err != nil {
		return err
	}
	temp := filepath.Join(cfg.Data, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return err
	}
	set, err := runner.Open(cfg.Runtimes, runner.Options{TempDir: temp, Instance: cfg.Data})
	if err != nil {
		return err
	}
	judge, err := askerFor("DONEWHEN_JUDGE_MODEL", cfg.JudgeModel, set, os.Getenv)
	if err != nil {
		return err
	}
	evaluator, err := askerFor("DONEWHEN_EVALUATOR_MODEL", cfg.EvaluatorModel, set, os.Getenv)
	if err != nil {
		return err
	}
	more, err := moreJudges(cfg.MoreJudges, set, os.Getenv)
	if err != nil {
		return err
	}
	summariser, err := askerFor("DONEWHEN_SUMMARY_MODEL", cfg.SummaryModel, set, os.Getenv)
	if err != nil {
		return err
	}
	a.engine = engine.New(engine.Config{
		Store: db, Logs: logs, Spaces: spaces, Runtimes: set.Runtimes(), Check: set.CheckRunner(), Reap: set.Reap,
		Judge: judge, Evaluator: evaluator, Summariser: summariser, MoreJudges: more, Canaries: cfg.Canaries, HomeDir: filepath.Join(cfg.Data, "homes"), Log: a.log,
		Workers: cfg.Workers, Backoff: cfg.Backoff, CheckLimit: cfg.CheckLimit, TargetAge: time.Second, CommandsBy: cfg.CommandsBy,
		Secrets: secrets(os.Environ()), Failpoint: cfg.failpoint,
	})
	a.later(func() error { a.engine.Close(); return nil })
	a.accounts = engine.NewAccounts(db, nil)
	web, err := handlers.New(handlers.Deps{
		Accounts: a.accounts, Engine: a.engine, Reader: db, Logs: logs, BaseURL: cfg.BaseURL, Log: a.log,
	})
	if err != nil {
		return err
	}
	a.server = &http.Server{Handler: web, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelWarn)}

	found, err := a.engine.Recover(ctx)
	if err != nil {
		a.log.Error("recovery", "err", err)
	}
	if found != (engine.Recovered{}) {
		a.log.Info("recovered from a stop in the middle of work", "lost_runs", found.Lost, "ended_processes", found.Ended, "evaluations", found.Evaluations, "applies", found.Applies)
	}
	if err := a.engine.SeedTemplates(ctx); err != nil {
		return fmt.Errorf("add the built-in templates: %w", err)
	}
	if cfg.Example {
		if _, err := addExample(ctx, a.engine, cfg.Data); err != nil {
			a.log.Warn("the example could not be made; everything else works", "err", err)
		}
	}
	return nil
}

// secrets are values of the server's environment whose names say what they
// are. They never appear in evidence.
func secrets(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		for _, mark := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"} {
			if strings.Contains(strings.ToUpper(name), mark) {
				out = append(out, value)
				break
			}
		}
	}
	return out
}

// URL is where people reach the server.
func (a *App) URL() string {
	if a.cfg.BaseURL != "" {
		return a.cfg.BaseURL
	}
	return "http://" + a.listener.Addr().String()
}

// Announce prints where to go: the address, and on a first start the one-time
// link with which the first account is made.
func (a *App) Announce(ctx context.Context, w io.Writer) {
	fmt.Fprintf(w, "\ndonewhen is ready at %s\n", a.URL())
	if !a.cfg.loopback() && !strings.HasPrefix(a.cfg.BaseURL, "https://") {
		fmt.Fprintln(w, "It can be reached from other machines without encryption: put a proxy with TLS in front, and set DONEWHEN_BASE_URL to its https address.")
	}
	token, needed, err := a.accounts.SetupToken(ctx)
	switch {
	case err != nil:
		a.log.Error("the set-up link could not be made", "err", err)
	case needed:
		fmt.Fprintf(w, "First start. Open this one-time link to make your account:\n\n    %s/setup/%s\n\n", a.URL(), token)
	}
}

// Run serves and sweeps until ctx ends, then lets open requests finish.
func (a *App) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { _ = a.engine.Run(ctx) })
	failed := make(chan error, 1)
	wg.Go(func() {
		if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	})
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	stop()
	a.engine.Hub().Close() // open event streams end, so that Shutdown does not wait for them
	limit, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if e := a.server.Shutdown(limit); e != nil && err == nil {
		err = a.server.Close()
	}
	wg.Wait()
	return err
}

// Close ends agents, waits for what is under way, closes the databases and
// gives the data folder back. It may be called more than once.
func (a *App) Close() {
	a.once.Do(func() {
		for i := len(a.closers) - 1; i >= 0; i-- {
			if err := a.closers[i](); err != nil {
				a.log.Error("close", "err", err)
			}
		}
	})
}

func (a *App) later(fn func() error) { a.closers = append(a.closers, fn) }

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
