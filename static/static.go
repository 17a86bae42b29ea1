// Package static embeds the built style sheet, scripts and icons and serves
// them under content-hashed names, so that a browser may keep them for ever
// and still gets the new ones after a deploy.
//
// The bundle is built by static/build.mjs into static/dist and is not
// committed. Without it the package compiles; Check tells what to do.
package static

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed all:dist
var dist embed.FS

// Prefix is where the bundle is served.
const Prefix = "/static/"

// bundled is the embedded bundle, read once: it cannot change while running.
var bundled, bundledErr = load(dist)

// Asset returns the URL path of a bundled file by its plain name, "app.css" ->
// "/static/app-3f9c2b1d.css". Without a bundle, and for an unknown name, it is
// the plain name under Prefix, which answers 404: Check reports the former at
// start, a test of this package's names the latter.
func Asset(name string) string {
	if bundled != nil {
		if hashed, ok := bundled.manifest[name]; ok {
			return Prefix + hashed
		}
	}
	return Prefix + name
}

// Check returns nil when the bundle is embedded and complete, otherwise an
// error that names the command that makes it. The server calls it at start.
func Check() error { return bundledErr }

// Handler serves the bundle's files under Prefix: GET and HEAD of hashed names
// only, anything else is 404. Answers may be cached for ever.
func Handler() http.Handler {
	if bundled == nil {
		return http.NotFoundHandler()
	}
	return bundled
}

// bundle is a built static/dist: plain name -> hashed name, hashed name -> file.
type bundle struct {
	manifest map[string]string
	files    map[string]file
}

type file struct {
	contentType string
	body        []byte
	gzipped     []byte // nil when compression would not help
}

// required are the files no page works without.
var required = []string{"app.css", "app.js", "live-worker.js", "icons.svg", "favicon.svg"}

// contentTypes is explicit: the tables of the machine the server runs on may
// say something else, and browsers refuse scripts of a wrong type.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// load reads a bundle from dist/ of fsys.
func load(fsys fs.FS) (*bundle, error) {
	const mend = "build it with `./task build` (or `npm ci && node static/build.mjs`) and compile again"
	raw, err := fs.ReadFile(fsys, "dist/manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the style sheet and scripts are not in this binary: %s", mend)
	} else if err != nil {
		return nil, err
	}
	b := &bundle{files: map[string]file{}}
	if err := json.Unmarshal(raw, &b.manifest); err != nil {
		return nil, fmt.Errorf("static/dist/manifest.json: %w; %s", err, mend)
	}
	for _, name := range required {
		if b.manifest[name] == "" {
			return nil, fmt.Errorf("the bundle in this binary lacks %s: %s", name, mend)
		}
	}
	for _, hashed := range b.manifest {
		body, err := fs.ReadFile(fsys, "dist/"+hashed)
		if err != nil {
			return nil, fmt.Errorf("the bundle in this binary is incomplete (%w): %s", err, mend)
		}
		contentType, ok := contentTypes[path.Ext(hashed)]
		if !ok {
			return nil, fmt.Errorf("no content type is known for %s: add it to contentTypes", hashed)
		}
		b.files[hashed] = file{contentType, body, compress(body)}
	}
	return b, nil
}

func compress(body []byte) []byte {
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression) // fails for an unknown level only
	_, _ = z.Write(body)                                    // a bytes.Buffer does not fail
	_ = z.Close()
	if buf.Len() >= len(body) {
		return nil
	}
	return buf.Bytes()
}

func (b *bundle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, ok := b.files[strings.TrimPrefix(r.URL.Path, Prefix)]
	if !ok || !strings.HasPrefix(r.URL.Path, Prefix) {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding")
	body := f.body
	if f.gzipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.gzipped
	}
	h.Set("Content-Length", fmt.Sprint(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // the client went away: nothing to do
	}
}
