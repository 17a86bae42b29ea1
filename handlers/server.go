package handlers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"donewhen/engine"
)

// maxBody is the largest request body: a form with long texts.
const maxBody = "4M"

// Deps is what the pages are made of.
type Deps struct {
	Accounts *engine.Accounts
	Engine   *engine.Engine
	Reader   reader
	Logs     logReader // of *store.Logs
	// LogLook is how long one request looks through a log for words, 0 = 2 s.
	LogLook time.Duration
	// ColourTime is how long a page of source text is coloured, 0 = 200 ms.
	ColourTime time.Duration

	// BaseURL is the address that people use, such as "https://done.example",
	// when it is known: links are made with it, and its origin is taken as our own.
	BaseURL string
	// ClientAddr tells the address a request comes from; nil takes that of the
	// connection. ForwardedAddr makes one for servers behind a proxy.
	ClientAddr func(*http.Request) string
	// SecureCookie says whether the session's cookie is for https only; nil
	// means when the request came over https.
	SecureCookie func(*http.Request) bool
	// Health is asked by /healthz, nil when there is nothing to ask.
	Health func(context.Context) error
	Now    func() time.Time
	Log    *slog.Logger
}

// Server answers all requests.
type Server struct {
	Deps
	echo     *echo.Echo
	base     *url.URL // nil when it is not known
	sessions *sessionStore
	byRoute  map[string]route // "GET /plans/:id"

	colourists colourists
}

// New checks the dependencies and makes the server.
func New(d Deps) (*Server, error) {
	if d.Accounts == nil {
		return nil, errors.New("handlers: Deps.Accounts is missing")
	}
	if d.Now == nil {
		d.Now = func() time.Time { return time.Now().UTC() }
	}
	if d.Log == nil {
		d.Log = slog.Default()
	}
	if d.ClientAddr == nil {
		d.ClientAddr = connectionAddr
	}
	s := &Server{Deps: d, echo: echo.New(), byRoute: map[string]route{}, colourists: make(colourists, highlightMost)}
	if d.BaseURL != "" {
		u, err := url.Parse(strings.TrimSuffix(d.BaseURL, "/"))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != "" {
			return nil, fmt.Errorf("the base URL %q is none: it looks like https://done.example", d.BaseURL)
		}
		s.base = u
	}
	if s.SecureCookie == nil {
		s.SecureCookie = s.overHTTPS
	}
	s.sessions = &sessionStore{accounts: d.Accounts, secure: s.SecureCookie}

	sameOrigin, err := s.sameOrigin()
	if err != nil {
		return nil, err
	}
	e := s.echo
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.handleError
	e.Use(securityHeaders, middleware.RecoverWithConfig(middleware.RecoverConfig{DisablePrintStack: true, LogErrorFunc: s.logPanic}))
	e.Use(sameOrigin, middleware.BodyLimit(maxBody), s.requireLogin, parseForm)
	for _, r := range s.routes() {
		s.register(r)
	}
	return s, nil
}

func (s *Server) register(r route) {
	s.byRoute[r.Method+" "+r.Path] = r
	s.echo.Add(r.Method, r.Path, r.Handler)
	if r.Method == http.MethodGet && !r.Stream {
		s.byRoute[http.MethodHead+" "+r.Path] = r
		s.echo.Add(http.MethodHead, r.Path, r.Handler)
	}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// absolute is a path with the address that people use for this server.
func (s *Server) absolute(r *http.Request, path string) string {
	switch {
	case s.base != nil:
		return s.base.String() + path
	case s.overHTTPS(r):
		return "https://" + r.Host + path
	default:
		return "http://" + r.Host + path
	}
}

// overHTTPS says whether the browser speaks https to us or to a proxy before
// us. A header that a client made up can only harm its own cookie.
func (s *Server) overHTTPS(r *http.Request) bool {
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return true
	}
	return s.base != nil && s.base.Scheme == "https" && strings.EqualFold(s.base.Host, r.Host)
}
