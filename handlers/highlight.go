package handlers

import (
	"context"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"donewhen/views"
)

// Bounds of the colours of one page. What is beyond them stays plain: colours
// are decoration, and a file's author decides what reading it for them costs.
const (
	highlightBytes = 48 << 10               // of source: about a millisecond for each 2 KiB
	highlightLine  = 500                    // bytes of a line; in longer ones patterns may look for seconds
	highlightTime  = 200 * time.Millisecond // of all of the page's files, unless Deps say otherwise
	highlightMost  = 4                      // pages at once
)

// colourists has a token for each page whose source may be read at a time. A
// lexer cannot be stopped within a token: whoever gave up waiting for it leaves
// the token with it, so that hostile files cannot take all processors.
type colourists chan struct{}

// highlighter colours the lines of one page until ctx ends.
type highlighter struct {
	ctx   context.Context
	left  int
	free  colourists
	lexer func(path string) chroma.Lexer // nil where the language is not known
}

func newHighlighter(ctx context.Context, free colourists) *highlighter {
	return &highlighter{ctx: ctx, left: highlightBytes, free: free, lexer: lexers.Match}
}

// colour gives the lines of a file's hunks their parts. Each side of a hunk is
// read as a text of its own, so that a deleted line does not open a string in
// the added ones.
func (h *highlighter) colour(path string, hunks []views.DiffHunk) {
	size := 0
	for _, hunk := range hunks {
		for _, l := range hunk.Lines {
			size += len(l.Text) + 1
			if len(l.Text) > highlightLine {
				return
			}
		}
	}
	if size > h.left || size == 0 || h.ctx.Err() != nil {
		return
	}
	lexer := h.lexer(path)
	if lexer == nil {
		return
	}
	h.left -= size
	for _, hunk := range hunks {
		for _, side := range []byte{'-', '+'} { // context comes from the newer one
			var at []int
			var text strings.Builder
			for i, l := range hunk.Lines {
				if l.Op == ' ' || l.Op == side {
					at = append(at, i)
					text.WriteString(l.Text)
					text.WriteByte('\n')
				}
			}
			if len(at) == 0 {
				continue
			}
			for k, parts := range h.inTime(lexer, text.String(), len(at)) {
				hunk.Lines[at[k]].Parts = parts
			}
		}
	}
}

// inTime is codeLines, or nil when it does not answer before ctx ends.
func (h *highlighter) inTime(lexer chroma.Lexer, text string, n int) [][]views.CodePart {
	select {
	case h.free <- struct{}{}:
	case <-h.ctx.Done():
		return nil
	}
	ready := make(chan [][]views.CodePart, 1)
	go func() {
		defer func() { <-h.free }()
		var lines [][]views.CodePart
		defer func() {
			_ = recover() // a lexer that breaks says nothing about the file
			ready <- lines
		}()
		lines = codeLines(h.ctx, lexer, text, n)
	}()
	select {
	case lines := <-ready:
		return lines
	case <-h.ctx.Done():
		return nil
	}
}

// codeLines reads text as n lines of coloured parts; nil where the lexer gives
// anything but exactly that text: colour must never change what is read. It
// stops between two tokens when ctx has ended.
func codeLines(ctx context.Context, lexer chroma.Lexer, text string, n int) [][]views.CodePart {
	tokens, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil
	}
	var all strings.Builder
	lines := make([][]views.CodePart, 1)
	for t := tokens(); t != chroma.EOF; t = tokens() {
		if ctx.Err() != nil {
			return nil
		}
		all.WriteString(t.Value)
		class := codeClass(t.Type)
		for i, piece := range strings.Split(t.Value, "\n") {
			if i > 0 {
				lines = append(lines, nil)
			}
			if piece == "" {
				continue
			}
			last := &lines[len(lines)-1]
			if k := len(*last) - 1; k >= 0 && (*last)[k].Class == class {
				(*last)[k].Text += piece
			} else {
				*last = append(*last, views.CodePart{Class: class, Text: piece})
			}
		}
	}
	if all.String() != text || len(lines) != n+1 {
		return nil
	}
	return lines[:n]
}

// codeClass is the style of a kind of token, "" for plain text. Few colours say
// more than many.
func codeClass(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Comment):
		return "hl-c"
	case t == chroma.KeywordType, t == chroma.NameClass, t == chroma.NameBuiltin, t == chroma.NameBuiltinPseudo:
		return "hl-t"
	case t.InCategory(chroma.Keyword), t == chroma.NameTag, t == chroma.OperatorWord:
		return "hl-k"
	case t.InSubCategory(chroma.LiteralString):
		return "hl-s"
	case t.InSubCategory(chroma.LiteralNumber):
		return "hl-n"
	case t == chroma.NameFunction, t == chroma.NameFunctionMagic, t == chroma.NameDecorator, t == chroma.NameAttribute, t == chroma.GenericHeading, t == chroma.GenericSubheading:
		return "hl-f"
	}
	return ""
}
