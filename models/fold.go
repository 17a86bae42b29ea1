package models

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// AppendSmall appends text in small letters. Offsets stay what they are: a sign
// whose small letter takes other bytes (İ) is left as it is.
func AppendSmall(to, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			to = append(to, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if small := unicode.ToLower(r); small != r && utf8.RuneLen(small) == n {
			to = utf8.AppendRune(to, small)
		} else {
			to = append(to, text[i:i+n]...)
		}
		i += n
	}
	return to
}

// Excerpt is where words were found, with what stands around them.
type Excerpt struct {
	Where               string // of what text: "Criterion", "Reason of Prepare"
	Before, Text, After string
}

// FindExcerpt looks for words in a text without regard to capitals; nil when
// they are not in it. around is how many bytes are shown on each side.
func FindExcerpt(where, text, words string, around int) *Excerpt {
	at := bytes.Index(AppendSmall(nil, []byte(text)), AppendSmall(nil, []byte(words)))
	if at < 0 || words == "" {
		return nil
	}
	end := at + len(words)
	e := Excerpt{Where: where, Text: text[at:end]}
	if from := at - around; from > 0 {
		for from < at && !utf8.RuneStart(text[from]) {
			from++
		}
		e.Before = "…" + text[from:at]
	} else {
		e.Before = text[:at]
	}
	if to := end + around; to < len(text) {
		for to > end && !utf8.RuneStart(text[to]) {
			to--
		}
		e.After = text[end:to] + "…"
	} else {
		e.After = text[end:]
	}
	return &e
}
