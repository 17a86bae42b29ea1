package handlers

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/models"
)

// contentPolicy lets pages load scripts and styles from this server only and
// run nothing inline. Some of the style sheet's icons are data: images.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// securityHeaders go with every answer, files and errors too.
func securityHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		// Not no-referrer: that makes browsers send "Origin: null" with our own forms.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		return next(c)
	}
}

// sameOrigin refuses every write that is not proven to come from one of our own
// pages: by Sec-Fetch-Site, or by an Origin that is ours. A cookie alone is no
// proof. A request with neither header (a script, a very old browser) is
// refused too; that is stricter than http.CrossOriginProtection alone, which
// lets it pass. Requests that only read pass.
func (s *Server) sameOrigin() (echo.MiddlewareFunc, error) {
	protection := http.NewCrossOriginProtection()
	if s.base != nil { // a proxy may have changed the Host that Origin is compared with
		if err := protection.AddTrustedOrigin(s.base.Scheme + "://" + s.base.Host); err != nil {
			return nil, fmt.Errorf("base URL: %w", err)
		}
	}
	refused := models.Errorf(models.CodeForbidden, "This request did not come from a page of this server, so nothing was done. Open the page here and try again.")
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			if protection.Check(r) != nil {
				return refused
			}
			switch r.Method {
			case http.MethodGet, http.MethodHead, http.MethodOptions:
				return next(c)
			}
			if r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") == "" {
				return refused
			}
			return next(c)
		}
	}, nil
}

// connectionAddr is the address at the other end of the connection.
func connectionAddr(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// ForwardedAddr makes a Deps.ClientAddr for a server behind proxies: it takes
// the last address in X-Forwarded-For that is not one of them. What comes from
// anybody else in that header is not believed.
func ForwardedAddr(proxies []netip.Prefix) func(*http.Request) string {
	trusted := func(addr string) bool {
		ip, err := netip.ParseAddr(addr)
		if err != nil {
			return false
		}
		for _, p := range proxies {
			if p.Contains(ip.Unmap()) {
				return true
			}
		}
		return false
	}
	return func(r *http.Request) string {
		addr := connectionAddr(r)
		hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		for i := len(hops) - 1; i >= 0 && trusted(addr); i-- {
			hop := strings.TrimSpace(hops[i])
			if _, err := netip.ParseAddr(hop); err != nil {
				break
			}
			addr = hop
		}
		return addr
	}
}
