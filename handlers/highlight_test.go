package handlers

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/views"
)

func hunkOf(lines ...string) []views.DiffHunk {
	var h views.DiffHunk
	for _, l := range lines {
		h.Lines = append(h.Lines, views.DiffLine{Op: l[0], Text: l[1:]})
	}
	return []views.DiffHunk{h}
}

func colours(ctx context.Context, left int) *highlighter {
	h := newHighlighter(ctx, make(colourists, 1))
	h.left = left
	return h
}

// ownLexer is a language of its own: each sign is a keyword, said after a while.
type ownLexer struct {
	chroma.Lexer
	sign func(i int) // called before each token
}

func (l ownLexer) Tokenise(_ *chroma.TokeniseOptions, text string) (chroma.Iterator, error) {
	i := 0
	return func() chroma.Token {
		if i == len(text) {
			return chroma.EOF
		}
		l.sign(i)
		i++
		return chroma.Token{Type: chroma.Keyword, Value: text[i-1 : i]}
	}, nil
}

// A page waits for its colours as long as it may, whatever the lexer does: what
// is not done by then is plain, and the lexer's work ends with its next token.
func TestHighlightInTime(t *testing.T) {
	// ten colours ten files of eight bytes with lexer and says which are.
	ten := func(t *testing.T, free colourists, lexer chroma.Lexer) (coloured string, took time.Duration) {
		ctx, end := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer end()
		h, began := newHighlighter(ctx, free), time.Now()
		h.lexer = func(string) chroma.Lexer { return lexer }
		for range 10 {
			hunks := hunkOf("+abc", "+def")
			h.colour("x", hunks)
			for _, l := range hunks[0].Lines {
				if text := l.Text; text != "abc" && text != "def" || l.Parts != nil && (len(l.Parts) != 1 || l.Parts[0].Text != text) {
					t.Errorf("%q became %+v", text, l.Parts)
				}
			}
			if hunks[0].Lines[0].Parts != nil {
				coloured += "c"
			} else {
				coloured += "-"
			}
		}
		return coloured, time.Since(began)
	}
	for _, tc := range []struct {
		name, want string
		sign       func(i int)
		took       time.Duration
	}{
		{"quick", "cccccccccc", func(int) {}, 0},
		{"each file takes a while", "cccc------", func(i int) { time.Sleep(6 * time.Millisecond) }, 200 * time.Millisecond},
		{"one token takes for ever", "----------", func(i int) { time.Sleep(time.Hour) }, 200 * time.Millisecond},
		{"it breaks", "----------", func(i int) { panic("no such state") }, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tokens := 0
				got, took := ten(t, make(colourists, 1), ownLexer{sign: func(i int) { tokens++; tc.sign(i) }})
				if got != tc.want || took != tc.took {
					t.Errorf("%s in %s, want %s in %s", got, took, tc.want, tc.took)
				}
				time.Sleep(2 * time.Hour) // what was given up ends by itself
				synctest.Wait()
				if got == "----------" && tc.took > 0 && tokens != 1 {
					t.Errorf("%d tokens were asked for", tokens)
				}
			})
		})
	}
	t.Run("those who wait behind a hostile file", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			free := make(colourists, 1)
			ten(t, free, ownLexer{sign: func(int) { time.Sleep(time.Minute) }})
			quick := ownLexer{sign: func(int) {}}
			if got, took := ten(t, free, quick); got != "----------" || took != 200*time.Millisecond {
				t.Errorf("while it is still read: %s in %s", got, took)
			}
			time.Sleep(2 * time.Minute)
			if got, _ := ten(t, free, quick); got != "cccccccccc" {
				t.Errorf("after it: %s", got)
			}
		})
	})
}

// Six such lines once took twelve seconds.
func TestHighlightLeavesLongLines(t *testing.T) {
	for _, tc := range []struct {
		length int
		want   bool
	}{{400, true}, {3900, false}} {
		hunks := hunkOf("+[Desktop Entry]", "+Name="+strings.Repeat("a", tc.length))
		h := colours(t.Context(), 100_000)
		asked := false
		h.lexer = func(path string) chroma.Lexer { asked = true; return lexers.Match(path) }
		h.colour("x.desktop", hunks)
		if asked != tc.want || (hunks[0].Lines[0].Parts != nil) != tc.want {
			t.Errorf("a line of %d bytes: coloured %v", tc.length, hunks[0].Lines[0].Parts != nil)
		}
	}
}

func TestHighlight(t *testing.T) {
	hunks := hunkOf(" package x", "-/* opened", "-and closed */", "+func f() string { return \"<b>\" } // \tü 日本", "\\No line break at the end of the file")
	colours(t.Context(), 1000).colour("a/x.go", hunks)
	classes := func(l views.DiffLine) string {
		var text strings.Builder
		var out []string
		for _, p := range l.Parts {
			text.WriteString(p.Text)
			if p.Class != "" {
				out = append(out, p.Class)
			}
		}
		if l.Parts != nil && text.String() != l.Text {
			t.Errorf("%q became %q", l.Text, text.String())
		}
		return strings.Join(out, " ")
	}
	for i, want := range []string{"hl-k", "hl-c", "hl-c", "hl-k hl-f hl-t hl-k hl-s hl-c", ""} {
		if got := classes(hunks[0].Lines[i]); got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}

	for name, tc := range map[string]struct {
		path string
		left int
		line string
	}{
		"no such language": {"a.unknown", 1000, "+func f() {}"},
		"too much":         {"a.go", 5, "+func f() {}"},
		"carriage returns": {"a.go", 1000, "+func f() {}\r"}, // coloured or not, the text stays
		"nonsense":         {"a.go", 1000, "+\x00`\"'\uFFFD"},
	} {
		hunks := hunkOf(tc.line)
		colours(t.Context(), tc.left).colour(tc.path, hunks)
		l := hunks[0].Lines[0]
		if got := classes(l); (tc.left == 5 || tc.path == "a.unknown") && got != "" || l.Text != tc.line[1:] {
			t.Errorf("%s: %q, text %q", name, got, l.Text)
		}
	}
}

func TestDiffInColoursInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	w.write(t, "main.go", "package main\n\n// main says hello.\nfunc main() {\n\tprintln(\"hello\")\n}\n")
	w.git(t, "-C", w.repo, "add", "-A")
	w.git(t, "-C", w.repo, "commit", "-q", "-m", "go")
	id := w.done(engine.NewPlan{Title: "Say more", Phases: []engine.NewPhase{sh("one", `sed -i 's/"hello"/"hello <b>there<\/b>", 42/' main.go; seq 1 30 > package-lock.json; seq 1 900 > long.txt`)}})
	page := w.vic.get("/plans/" + id + "/diff")
	want(t, page, http.StatusOK)
	d := doc(t, page)
	file := d.Find(`[data-file]`).FilterFunction(func(_ int, s *goquery.Selection) bool {
		return strings.Contains(s.Find("caption").Text(), "main.go")
	})
	added := file.Find("tr").FilterFunction(func(_ int, s *goquery.Selection) bool { return s.Find("td:nth-child(3)").Text() == "+" })
	if got := added.Find("td:nth-child(4)").Text(); got != "\tprintln(\"hello <b>there</b>\", 42)" {
		t.Errorf("the added line is %q", got)
	}
	if added.Find(".hl-s").Text() != `"hello <b>there</b>"` || added.Find(".hl-n").Text() != "42" || file.Find(".hl-c").Text() != "// main says hello." {
		t.Error("the line is not coloured")
	}
	if file.Find("tr[data-context]").Length() == 0 || file.Find("[data-changed-only]").Length() != 1 {
		t.Error("unchanged lines cannot be folded")
	}
	shows(t, page, "Looks like a generated file: 30 lines", "900 lines are too many", "+900 −0")

	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+"/plans/"+id+"/diff"), chromedp.WaitVisible(chromedp.CSS("tr[data-context]")))
	look(t, b, "diff-colours")
	b.Do(chromedp.Click(chromedp.CSS("[data-changed-only]")))
	if n := browsertest.Get(b, chromedp.Evaluate[int](`[...document.querySelectorAll("tr[data-context]")].filter(r => r.checkVisibility()).length`)); n != 0 {
		t.Errorf("%d unchanged lines are seen", n)
	}
}
