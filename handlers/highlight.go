package handlers

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"donewhen/views"
)

// highlightBytes is how much of a page's source is coloured: reading it costs
// about a millisecond for each 2 KiB. What is beyond stays plain.
const highlightBytes = 48 << 10

// highlighter colours the lines of one page.
type highlighter struct{ left int }

// colour gives the lines of a file's hunks their parts. Each side of a hunk is
// read as a text of its own, so that a deleted line does not open a string in
// the added ones.
func (h *highlighter) colour(path string, hunks []views.DiffHunk) {
	size := 0
	for _, hunk := range hunks {
		for _, l := range hunk.Lines {
			size += len(l.Text) + 1
		}
	}
	if size > h.left {
		return
	}
	lexer := lexers.Match(path)
	if lexer == nil {
		return
	}
	h.left -= size
	lexer = chroma.Coalesce(lexer)
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
			for k, parts := range codeLines(lexer, text.String(), len(at)) {
				hunk.Lines[at[k]].Parts = parts
			}
		}
	}
}

// codeLines reads text as n lines of coloured parts; nil where the lexer gives
// anything but exactly that text: colour must never change what is read.
func codeLines(lexer chroma.Lexer, text string, n int) [][]views.CodePart {
	tokens, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return nil
	}
	var all strings.Builder
	lines := make([][]views.CodePart, 1)
	for _, t := range tokens.Tokens() {
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
