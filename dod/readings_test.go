package dod_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"donewhen/dod"
)

func absent(pattern, value string) dod.Result {
	return evaluate(dod.ParseCriteria("x -> absent: /"+pattern+"/"), map[string]string{"log": value})[0]
}

// What is taken out of evidence before people see it was there all the same, and
// what is put in to hide a word hides nothing.
func TestAbsentLooksAtEveryReading(t *testing.T) {
	utf16Text := func(s string, big bool) string {
		b := []byte("\xff\xfe")
		if big {
			b = []byte("\xfe\xff")
		}
		for _, u := range utf16.Encode([]rune(s)) {
			pair := []byte{byte(u), byte(u >> 8)}
			if big {
				slices.Reverse(pair)
			}
			b = append(b, pair...)
		}
		return string(b)
	}
	for _, c := range []struct{ name, pattern, value string }{
		{"a carriage return", `\r`, "a\r\nb\r\n"},
		{"a line end of Windows", `\r\n`, "a\r\nb\r\n"},
		{"a byte order mark", `\x{FEFF}`, "\ufeffhello\n"},
		{"what is not ASCII", `[^\x00-\x7F]`, "a\u200bb"},
		{"control characters", `[\x00-\x08\x0e-\x1f]`, "a \x01 b"},
		{"colours", `\x1b\[`, "\x1b[31mred\x1b[0m"},
		{"a NUL", `\x00`, "a\x00b"},
		{"a word with a non-joiner", "می\u200cشود", "می\u200cشود"},
		{"a family of emoji", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧 all"},
		{"an emoji with a selector", "❤\ufe0f", "❤\ufe0f"},
		{"a pasted zero-width space", "secret\u200bword", "secretword"},
		{"a pasted non-joiner", "secret\u200cword", "secretword"},
		{"accents apart in the text", "caf\u00e9", "cafe\u0301"},
		{"accents apart in the pattern", "cafe\u0301", "caf\u00e9"},
		{"a soft hyphen", "TODO", "TO\u00adDO"},
		{"a direction mark", "TODO", "TO\u200eDO"},
		{"a variation selector", "TODO", "TOD\ufe0fO"},
		{"another variation selector", "TODO", "TOD\U000e0101O"},
		{"a grapheme joiner", "TODO", "TO\u034fDO"},
		{"a joiner", "TODO", "TO\u200dDO"},
		{"a tag", "TODO", "TO\U000e0041DO"},
		{"a line separator", "TODO", "TO\u2028DO"},
		{"a lone carriage return", "TODO", "TO\rDO"},
		{"a NUL within", "TODO", "TO\x00DO"},
		{"colour within", "TODO", "TO\x1b[1mDO"},
		{"a title that holds it", "TODO", "\x1b]0;TODO\adone"},
		{"struck out and written again", "TODO", "TOX\bDO"},
		{"written over from the left", "TODO: mend", "XXXX: mend\rTODO"},
		{"a cursor that goes back", "TODO", "TOXX\x1b[2DDO"},
		{"a bell within a sequence", "TODO", "TO\x1b[0\amDO"},
		{"a sequence within a sequence", "TODO", "TO\x1b[\x1b[0mDO"},
		{"a title that a sequence ends", "TODO", "TO\x1b]0;x\x1b[0mDO"},
		{"a title of two lines", "TODO", "TO\x1b]0;a\nb\aDO"},
		{"a device string", "TODO", "TO\x1bPq\x1b\\DO"},
		{"UTF-16", "fmt.Println", utf16Text("fmt.Println", false)},
		{"UTF-16 that is not ASCII", "größe", utf16Text("die größe", false)},
		{"UTF-16 the other way round", "größe", utf16Text("die größe", true)},
		{"UTF-16 behind other text", "größe", "hi\n" + utf16Text("die größe\nzwei\n", false)},
		{"UTF-16 the other way round behind other text", "größe", "hi\n" + utf16Text("eins\ndie größe", true)},
		{"UTF-16 with no mark", "пароль", "hi\n" + utf16Text("строка пароль", false)[2:] + "\n"},
		{"UTF-16 with no mark the other way round", "пароль", utf16Text("eins\nпароль", true)[2:]},
		{"UTF-16 behind other text of its line", "пароль", "\x1b[1mabc" + utf16Text("пароль", false)[2:] + "d"},
		{"UTF-16 with a sign that cannot be seen", "пароль", utf16Text("пар\u200bо\ufeffл\U000e0101ь", false)[2:]},
		{"UTF-16 of a script of many letters", "密码", "hi\n" + utf16Text("这是\n密码", false)},
		{"a line of UTF-16", "^пароль$", "hi\n" + utf16Text("eins\r\nпароль\r\nzwei\r\n", false)},
		{"lines of UTF-16", "eins\\s+пароль", "hi\n" + utf16Text("a\neins\nпароль\n", false)},
		{"a line behind a form feed", "^TODO", "a\fTODO"},
		{"a line behind a vertical tab", "^TODO", "a\vTODO"},
		{"a line before a line separator", "TODO$", "TODO\u2028a"},
		{"a line behind a paragraph separator", "^TODO", "a\u2029TODO"},
		{"a line behind a next line", "^TODO", "a\u0085TODO"},
		{"a false byte order mark", "TODO", "\xff\xfe TODO!"},
		{"an invalid byte", `\x{FFFD}`, "a\xffb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := absent(c.pattern, c.value)
			if r.Status != dod.Failed || r.Match == nil {
				t.Errorf("%s: %s", r.Status, r.Reasoning)
			}
		})
	}
}

func TestAbsentFindsOnlyWhatIsThere(t *testing.T) {
	for pattern, value := range map[string]string{
		`\r`:                     "a\nb\n",
		`[^\x00-\x7F]`:           "plain\ttext\n",
		`\x{FEFF}`:               "hello",
		"secret\u200bword":       "secret word",
		"TODO":                   "TO\nDO TO DO TO\tDO",
		"caf\u00e9":              "cafe",
		`(?-m:^b$)`:              "a\nb\nc",
		`\Ab\z`:                  "a\nb\nc",
		`fmt\.Println`:           "fmt.\x1b[1mPrint",
		"a\u200d|b":              "c",
		"red.green":              "red\ngreen",
		"x\u00ad*y":              "y",
		"a\u00ad{2}b":            "aab",
		`\p{Han}`:                "a \x01 b\n\x02\nabcdef",
		`\p{Cyrillic}`:           "a\x00 b c\td",
		"(?i)x{2}[[:alpha:]]\\D": "xx11",
	} {
		if r := absent(pattern, value); r.Status != dod.Passed {
			t.Errorf("/%s/ in %q: %s, %s", pattern, value, r.Status, r.Reasoning)
		}
	}
}

// ^ and $ in absent: are also the ends of a line: whoever forbids /^TODO$/ means
// the line.
func TestAbsentAnchorsAtLines(t *testing.T) {
	for pattern, value := range map[string]string{
		`^TODO$`:     "a\nTODO\nb\n",
		`TODO\s*$`:   "a TODO \nb\n",
		`[ \t]+$`:    "clean\ntrailing \nclean\n",
		`[ \t]$`:     "trailing \r\nclean\r\n",
		`^a|^b`:      "x\nb\n",
		`(?i)^todo$`: "x\nTodo\nx",
	} {
		if r := absent(pattern, value); r.Status != dod.Failed {
			t.Errorf("/%s/ in %q: %s, %s", pattern, value, r.Status, r.Reasoning)
		}
	}
	// match: keeps what the expression says.
	if r := evaluate(dod.ParseCriteria("x -> match: /^TODO$/"), map[string]string{"k": "a\nTODO\nb"})[0]; r.Status != dod.Failed {
		t.Errorf("match: became weaker: %+v", r)
	}
}

// The whole values are read in every way, also where the shown ones were cleaned;
// what shows nothing at all is no evidence of absence.
func TestAbsentLooksAtWholeValues(t *testing.T) {
	evaluate := func(whole map[string]string, cut map[string]bool, shown map[string]string) dod.Result {
		return dod.TextMatch{Whole: whole, Cut: cut}.Evaluate(context.Background(), dod.ParseCriteria(`x -> absent: /\r/`), shown)[0]
	}
	if r := evaluate(map[string]string{"log": "a\r\n"}, nil, map[string]string{"log": "a\n"}); r.Status != dod.Failed {
		t.Errorf("%+v", r)
	}
	if r := evaluate(map[string]string{"log": "\x00\u200b"}, nil, nil); r.Status != dod.Skipped || !strings.Contains(r.Reasoning, "no evidence") {
		t.Errorf("%+v", r)
	}
	if r := evaluate(map[string]string{"log": ""}, map[string]bool{"log": true}, nil); r.Status != dod.Skipped || !strings.Contains(r.Reasoning, "cut") {
		t.Errorf("%+v", r)
	}
}

// A line or pattern with signs that evidence is cleaned of can be met by exactly
// that text, and by nothing that does not read the same.
func TestSignsInALineCanBeMet(t *testing.T) {
	for _, c := range []struct {
		line, value string
		want        dod.Status
	}{
		{"می\u200cشود", "می\u200cشود", dod.Passed},
		{"می\u200cشود", dod.Printed("می\u200cشود"), dod.Passed},
		{"👨\u200d👩\u200d👧 there", dod.Written("👨\u200d👩\u200d👧 there"), dod.Passed},
		{"x -> match: /می\u200cشود\\d/", dod.Printed("می\u200cشود1"), dod.Passed},
		{"caf\u00e9 open", "cafe\u0301 open", dod.Passed},
		{"cafe\u0301 open", "caf\u00e9 open", dod.Passed},
		{"x -> match: /caf\u00e9$/", "cafe\u0301", dod.Passed},
		{"❤\ufe0f", "❤\ufe0f", dod.Passed},
		{"می\u200cشود", "می شود", dod.Failed},
		{"caf\u00e9", "cafe", dod.Failed},
		{"x -> match: /^[a-z]+$/", "abc\u00ad", dod.Failed}, // "only small letters" stays what it says
		{"x -> match: /^.{4}$/", "cafe\u0301", dod.Failed},
		{"TODO", "TO\u00adDO", dod.Failed},
		{"x -> match: /\u200c/", "anything", dod.Failed},
		{"x -> match: /\u200c|b/", "anything", dod.Failed},
	} {
		if r := evaluate(dod.ParseCriteria(c.line), map[string]string{"k": c.value})[0]; r.Status != c.want {
			t.Errorf("%q in %q: %s (%s), want %s", c.line, c.value, r.Status, r.Reasoning, c.want)
		}
	}
	for _, nothing := range []string{"\u200c", "\u00ad", "\u200d\u200d", " \ufe0f"} {
		if r := evaluate([]dod.Criterion{{Text: nothing}}, map[string]string{"k": "anything " + nothing})[0]; r.Status != dod.Failed {
			t.Errorf("%q: %+v", nothing, r)
		}
	}
	for i, r := range evaluate(dod.ParseCriteria(strings.Repeat("می\u200cشود\n", 20)), map[string]string{"می\u200cشود.txt": "x"}) {
		if r.Status != dod.Passed || r.Match.Key != "می\u200cشود.txt" {
			t.Errorf("%d, in a key: %+v", i, r)
		}
	}
}

// The same text has one reading, however many are tried: evidence may be megabytes.
func TestPlainTextIsReadOnce(t *testing.T) {
	if n := dod.CountReadings("plain text\n\tof two lines, größer\n"); n != 1 {
		t.Errorf("%d readings of plain text", n)
	}
	if n := dod.CountReadings("\x1b[1mbold\x1b[0m\r\n"); n < 3 {
		t.Errorf("%d readings of coloured text", n)
	}
}

// What is text in no known way may be the word that is forbidden.
func TestAbsenceInBytesThatAreNoTextIsNotShown(t *testing.T) {
	cp1251 := "\xef\xe0\xf0\xee\xeb\xfc" // пароль
	for _, c := range []struct {
		pattern, value string
		want           dod.Status
	}{
		{"пароль", cp1251, dod.Skipped},
		{"[а-я]+", "fine\n" + cp1251 + "\n", dod.Skipped},
		{"пароль", "\xff\xfe\x3f\x04\n" + cp1251, dod.Skipped},
		{"пароль", cp1251 + "\x01\x01\x01\x01", dod.Skipped},
		{"Њива", "a\x00b", dod.Skipped},
		{"пароль", "hi\n\xff\xfe\x3f\x04\x30\x04\x0a\x00", dod.Passed},
		{"пароль", "a\x00b größe", dod.Passed},
		{"(?i)[a-z]ask", cp1251, dod.Passed},
		{"TODO[^a]", cp1251, dod.Passed},
	} {
		if r := absent(c.pattern, c.value); r.Status != c.want {
			t.Errorf("/%s/ in %q: %s (%s), want %s", c.pattern, c.value, r.Status, r.Reasoning, c.want)
		}
	}
}
