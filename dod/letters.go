package dod

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// letters is what a pattern's own letters say about the texts that it can be
// looked for in.
type letters struct {
	// foreign: it has letters beside ASCII, so it says nothing about bytes whose
	// encoding is not known.
	foreign bool
	// divided: in UTF-16 one of them has the byte of a line's end.
	divided bool
}

func lettersOf(pattern string) letters {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return letters{}
	}
	var l letters
	l.add(re)
	return l
}

func (l *letters) add(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r > unicode.MaxASCII && r != utf8.RuneError {
				l.foreign = true
				l.divided = l.divided || r&0xff == '\n' || r>>8&0xff == '\n'
			}
		}
	case syntax.OpCharClass:
		if n := len(re.Rune); n == 0 || re.Rune[n-1] == unicode.MaxRune {
			break // all but some, which says nothing about a script
		}
		for i := 0; i < len(re.Rune); i += 2 {
			for r := max(re.Rune[i], unicode.MaxASCII+1); r <= re.Rune[i+1] && !l.foreign; r++ {
				l.foreign = r != 'ſ' && r != '\u212a' && r != utf8.RuneError // (?i) adds the first two to s and k
			}
		}
	}
	for _, sub := range re.Sub {
		l.add(sub)
	}
}
