package static

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// built is a small bundle as build.mjs leaves it.
func built() fstest.MapFS {
	return fstest.MapFS{
		"dist/manifest.json":          {Data: []byte(`{"app.css":"app-1.css","app.js":"app-2.js","live-worker.js":"live-worker-3.js","icons.svg":"icons-4.svg","favicon.svg":"favicon-5.svg"}`)},
		"dist/app-1.css":              {Data: []byte(strings.Repeat("a{color:red}", 100))},
		"dist/app-2.js":               {Data: []byte("1")},
		"dist/live-worker-3.js":       {Data: []byte("2")},
		"dist/icons-4.svg":            {Data: []byte("<svg/>")},
		"dist/favicon-5.svg":          {Data: []byte("<svg/>")},
		"dist/left-over-from-old.css": {Data: []byte("x")},
	}
}

func TestLoadNamesTheCommandThatMends(t *testing.T) {
	for name, spoil := range map[string]func(fstest.MapFS){
		"no bundle":       func(m fstest.MapFS) { delete(m, "dist/manifest.json") },
		"broken manifest": func(m fstest.MapFS) { m["dist/manifest.json"] = &fstest.MapFile{Data: []byte("{")} },
		"entry missing": func(m fstest.MapFS) {
			m["dist/manifest.json"] = &fstest.MapFile{Data: []byte(`{"app.css":"app-1.css"}`)}
		},
		"file missing": func(m fstest.MapFS) { delete(m, "dist/app-2.js") },
	} {
		t.Run(name, func(t *testing.T) {
			fsys := built()
			spoil(fsys)
			_, err := load(fsys)
			if err == nil || !strings.Contains(err.Error(), "./task build") {
				t.Errorf("error %v does not name the command that makes the bundle", err)
			}
		})
	}
}

func TestServe(t *testing.T) {
	b, err := load(built())
	if err != nil {
		t.Fatal(err)
	}
	get := func(method, path, encoding string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		b.ServeHTTP(w, r)
		return w
	}

	w := get("GET", "/static/app-1.css", "")
	if w.Code != 200 || w.Body.Len() != 1200 || w.Header().Get("Content-Type") != "text/css; charset=utf-8" ||
		w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
		t.Errorf("plain: %d, %d bytes, %v", w.Code, w.Body.Len(), w.Header())
	}

	w = get("GET", "/static/app-1.css", "br, gzip")
	z, err := gzip.NewReader(w.Body)
	if err != nil || w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("gzip: %v, %v", err, w.Header())
	}
	if body, err := io.ReadAll(z); err != nil || len(body) != 1200 {
		t.Errorf("gzip: %d bytes, %v", len(body), err)
	}

	if w := get("HEAD", "/static/app-2.js", ""); w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("Content-Length") != "1" {
		t.Errorf("HEAD: %d, %q, %v", w.Code, w.Body, w.Header())
	}
	if w := get("POST", "/static/app-2.js", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
	for _, path := range []string{"/static/app.css", "/static/manifest.json", "/static/left-over-from-old.css", "/static/", "/static/../static.go", "/app-1.css"} {
		if w := get("GET", path, ""); w.Code != 404 {
			t.Errorf("%s: %d, want 404", path, w.Code)
		}
	}
}

// TestBundle looks at the bundle that is really embedded.
func TestBundle(t *testing.T) {
	if err := Check(); err != nil {
		if os.Getenv("DONEWHEN_REQUIRE_ALL") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for _, name := range required {
		r := httptest.NewRecorder()
		Handler().ServeHTTP(r, httptest.NewRequest("GET", Asset(name), nil))
		if r.Code != 200 || Asset(name) == Prefix+name {
			t.Errorf("%s is served at %s with %d", name, Asset(name), r.Code)
		}
	}
	if got := Asset("nothing.css"); got != "/static/nothing.css" {
		t.Errorf("unknown name: %s", got)
	}

	list, err := os.ReadFile("src/icons.txt")
	if err != nil {
		t.Fatal(err)
	}
	sprite := bundled.files[bundled.manifest["icons.svg"]].body
	for _, line := range strings.Split(string(list), "\n") {
		if line != "" && !strings.HasPrefix(line, "#") && !bytes.Contains(sprite, []byte(`<symbol id="`+line+`"`)) {
			t.Errorf("the sprite lacks the icon %s", line)
		}
	}
}
