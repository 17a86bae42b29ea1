package dod

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A line has one check and a check one pattern, and everything between the first
// and the last slash is it. What reads as two ("/TODO/ and no /FIXME/") is one
// expression that hardly anything matches: absent: would always pass. So a slash
// that can be the end of a pattern with one behind it that can be another's, and
// blanks as only sentences have them, is not taken for part of an expression.

var (
	// class is the rest of a class, as of [^/ ], behind its bracket.
	class = regexp.MustCompile(`^\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]`)
	// behindEnd is what may stand between the end of a pattern and a blank: flags
	// and punctuation.
	behindEnd = regexp.MustCompile(`^[dgimnsuvxyU]{0,4}[^\pL\pN\s/\\]*`)
	// onlySigns stand between two patterns without a blank.
	onlySigns = regexp.MustCompile(`^(?:,|;|\|\|?|&&?)/`)
	// moreChecks is a second check anywhere behind the end of a pattern.
	moreChecks = regexp.MustCompile(`(?:->|→)\s*(?:match|absent|run|file|judge|human)\b|[\s>→,;(|&+](?:match|absent|run|file|judge|human)\s*:|\b(?:match|absent)\s*:\s*/`)
)

// joined says what to write instead where a pattern is two patterns or two checks.
// "" for a pattern that is one.
func joined(c Criterion) string {
	// Whatever kind of blank it is, and what cannot be seen is one here.
	pattern := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unseen(r) {
			return ' '
		}
		return r
	}, c.Pattern)
	slashes := openSlashes(pattern)
	for i, at := range slashes {
		rest := pattern[at+1:]
		if more := moreChecks.FindString(rest); more != "" {
			return "a line has one check, and everything between the first and the last slash is its pattern: write one line for each check; if the slash before " +
				clip(strings.TrimSpace(more), 40) + ` belongs to the pattern, write it as \/`
		}
		if second := secondPattern(pattern, at, slashes[i+1:]); second > 0 {
			return twoPatterns(string(c.Check.Kind), pattern[:at], pattern[second+1:])
		}
	}
	return ""
}

// openSlashes are the slashes of pattern that no backslash and no class belongs to.
func openSlashes(pattern string) []int {
	var at []int
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			i += len(class.FindString(pattern[i+1:]))
		case '/':
			at = append(at, i)
		}
	}
	return at
}

// secondPattern is the slash of later that can begin a second pattern if the one
// at end ends the first, or 0.
func secondPattern(pattern string, end int, later []int) int {
	if len(later) == 0 {
		return 0
	}
	rest := pattern[end+1:]
	if onlySigns.MatchString(rest) {
		return end + strings.IndexByte(rest, '/') + 1
	}
	ends := end > 0 && pattern[end-1] != ' '
	for _, begin := range later {
		before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(pattern[end+1:begin], "`'\"(["))
		if ends && before == ' ' {
			return begin
		}
	}
	if flags := behindEnd.FindString(rest); strings.HasPrefix(rest[len(flags):], " ") {
		return later[0]
	}
	return 0
}

func twoPatterns(kind, first, second string) string {
	either := "/" + first + "|" + second + "/"
	if _, err := regexp.Compile(first + "|" + second); err != nil || first == "" || second == "" || len(either) > 80 || len(openSlashes(second)) > 0 {
		either = "/TODO|FIXME/"
	}
	return kind + ": takes one pattern, and everything between the first and the last slash is it: write one line for each, or " + kind + ": " + either +
		` for either; if the slashes within belong to the pattern, write them as \/`
}
