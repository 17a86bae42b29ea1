package dod

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Data in a question is quoted: what could pass for a part of the question is
// marked, visibly and so that a reader can undo it (Unquote). There are five
// signs, all with ‹:
//
//	‹data›         put before what reads like a fence, a role, a verdict or a model's
//	               control token, or into it; stands for nothing
//	‹U+202E U+…×3› invisible or control signs (×3: three times); ‹xFF› a byte that is
//	               no UTF-8
//	‹at›           an @ that could name a file: agent CLIs put the named file's
//	               content into the question
//	‹‹             one ‹ of the data itself
const dataMark = "‹data›"

const quoteOpen = '‹'

// Quote marks in data what could be read as a part of a question instead of as
// its data: lines that look like fences or roles, verdict-like objects, models'
// control tokens, names of files for agent CLIs, the nonce, and signs that cannot
// be seen. Line ends are folded to \n; apart from that Unquote gives data back. It
// takes linear time, and its result is at most about 14 times as long, ordinary
// text hardly longer.
func Quote(data, nonce string) string {
	data = strings.ReplaceAll(data, "\r\n", "\n")
	q := quoter{data: data, nonce: nonce}
	q.run()
	return q.out.String()
}

// Unquote undoes Quote.
func Unquote(quoted string) string {
	var b strings.Builder
	for {
		at := strings.IndexRune(quoted, quoteOpen)
		if at < 0 {
			b.WriteString(quoted)
			return b.String()
		}
		b.WriteString(quoted[:at])
		quoted = quoted[at+len("‹"):]
		if rest, literal := strings.CutPrefix(quoted, "‹"); literal {
			b.WriteString("‹")
			quoted = rest
			continue
		}
		sign, rest, found := strings.Cut(quoted, "›")
		if !found {
			b.WriteString("‹")
			continue
		}
		quoted = rest
		switch sign {
		case "data":
		case "at":
			b.WriteByte('@')
		default:
			unquoteSigns(&b, sign)
		}
	}
}

func unquoteSigns(b *strings.Builder, signs string) {
	for sign := range strings.FieldsSeq(signs) {
		sign, count, _ := strings.Cut(sign, "×")
		times := 1
		if n, err := strconv.Atoi(count); err == nil {
			times = n
		}
		if hex, isRune := strings.CutPrefix(sign, "U+"); isRune {
			n, _ := strconv.ParseUint(hex, 16, 32)
			b.WriteString(strings.Repeat(string(rune(n)), times))
		} else if hex, isByte := strings.CutPrefix(sign, "x"); isByte {
			n, _ := strconv.ParseUint(hex, 16, 8)
			b.WriteString(strings.Repeat(string([]byte{byte(n)}), times))
		}
	}
}

// quoter walks once over data. found, when set, is told of every mark.
type quoter struct {
	data, nonce string
	out         strings.Builder
	found       func(kind FlagKind, offset int)
}

func (q *quoter) run() {
	q.out.Grow(len(q.data) + len(q.data)/16)
	lineStart := true
	for i := 0; i < len(q.data); {
		if lineStart {
			lineStart = false
			if kind := lineKind(q.data[i:]); kind != "" {
				q.mark(kind, i)
			}
		}
		c := q.data[i]
		if n := q.nonceAt(i); n > 0 {
			// Split, so that it stands nowhere in the data.
			_, size := utf8.DecodeRuneInString(q.nonce)
			q.out.WriteString(q.nonce[:size])
			q.mark(FlagFence, i)
			q.out.WriteString(q.nonce[size:])
			i += n
			continue
		}
		switch {
		case c == '\n':
			lineStart = true
		case c == '<' || c == '[':
			if controlToken.MatchString(window(q.data[i:])) {
				q.out.WriteByte(c)
				q.mark(FlagRole, i)
				i++
				continue
			}
		case c == 'm' || c == 'M' || c == '\\':
			if n := metAt(q.data, i); n > 0 {
				q.out.WriteString(q.data[i : i+n])
				q.mark(FlagVerdict, i)
				i += n
				continue
			}
		case c == '@':
			n := atSigns(q.data, i)
			if n > 0 {
				q.out.WriteString(strings.Repeat("‹at›", n))
				i += n
				continue
			}
		case c < 0x20 && c != '\t' || c == 0x7f || c >= utf8.RuneSelf:
			i = q.sign(i)
			continue
		}
		q.out.WriteByte(c)
		i++
	}
}

func (q *quoter) mark(kind FlagKind, offset int) {
	q.out.WriteString(dataMark)
	if q.found != nil {
		q.found(kind, offset)
	}
}

func (q *quoter) nonceAt(i int) int {
	if len(q.nonce) > 1 && q.data[i] == q.nonce[0] && strings.HasPrefix(q.data[i:], q.nonce) {
		return len(q.nonce)
	}
	return 0
}

// sign writes what begins at i with a control sign or a byte above ASCII and
// returns where it ends: a run of hidden signs as one mark, all else as it is.
func (q *quoter) sign(i int) int {
	var group []string
	last, times := "", 0
	flush := func() {
		switch {
		case times == 1:
			group = append(group, last)
		case times > 1:
			group = append(group, last+"×"+strconv.Itoa(times))
		}
	}
	began := i
	for i < len(q.data) {
		r, size := utf8.DecodeRuneInString(q.data[i:])
		name := ""
		switch {
		case r == utf8.RuneError && size == 1:
			name = fmt.Sprintf("x%02X", q.data[i])
		case Hidden(r):
			name = fmt.Sprintf("U+%04X", r)
		}
		if name == "" {
			break
		}
		if name != last {
			flush()
			last, times = name, 0
		}
		times++
		i += size
	}
	flush()
	if len(group) > 0 {
		q.out.WriteString("‹" + strings.Join(group, " ") + "›")
		if q.found != nil {
			q.found(FlagHidden, began)
		}
		return i
	}
	r, size := utf8.DecodeRuneInString(q.data[i:])
	if r == quoteOpen {
		q.out.WriteString("‹‹")
	} else {
		q.out.WriteString(q.data[i : i+size])
	}
	return i + size
}

// Hidden says whether a sign shows nothing or changes how others are shown: all
// control and format signs (zero width, text direction, tags), the separators of
// lines, fillers, and the variation selectors that no emoji uses.
func Hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return true
	case r < 0xad:
		return false
	case r == 0x2028 || r == 0x2029 || r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || r == 0x2800 || r == 0x034f || r == 0x17b4 || r == 0x17b5:
		return true
	case r >= 0xfe00 && r <= 0xfe0d || r >= 0x180b && r <= 0x180f || r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Co)
}

const metLetters = `(?:m|\\{1,4}u00[64]d)(?:e|\\{1,4}u00[64]5)(?:t|\\{1,4}u00[75]4)`

// maxWindow is how far a pattern looks from where it begins: it bounds the work
// for each place, however long the line is.
const maxWindow = 96

func window(s string) string { return s[:min(len(s), maxWindow)] }

var (
	// leadIn is what may stand before a role or a fence at a line's start: blanks,
	// quotation and list signs, the signs of a diff, comment signs.
	leadIn = `^[ \t>|*#+\-=_~/\[(<"'` + "`" + `]*`
	// leadSigns are the same signs, to pass over them quickly.
	leadSigns = " \t>|*#+-=_~/[(<\"'`"

	roleLine = regexp.MustCompile(leadIn + `(?:HUMAN|Human|ASSISTANT|Assistant|USER|User|SYSTEM|System|DEVELOPER|Developer|JUDGE|Judge|EVALUATOR|Evaluator|CLAUDE|Claude|ChatGPT|AI)[ \t*_\])>"']*:`)

	fenceLine = regexp.MustCompile(leadIn + `(?i:BEGIN|END|START)(?:[ \t_\-]+(?i:OF|THE))*[ \t_\-]+(?i:CRITERION|CRITERIA|TASK|EVIDENCE|DATA|QUESTION|INPUT|PROMPT|INSTRUCTIONS?|CONTEXT|TRANSCRIPT)(?:[^A-Za-z0-9]|$)`)

	tickLine = regexp.MustCompile("^[ \t]*(?:```|~~~)")

	// controlToken are the ends and roles of chat formats and of the tags that
	// prompts are often made with.
	controlToken = regexp.MustCompile(`^(?:<\|[^|<>\n]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>|<(?:bos|eos)>|` +
		`</?(?i:system|user|human|assistant|developer|evidence|criterion|criteria|task|data|documents?|instructions?|prompt|question|answer|verdict|judge|judgement|reply|context|transcript|untrusted|input|output_format|thinking|think|function_calls|function_results|invoke|tool_use|tool_calls?|tool_results?|tool_response)(?:[ \t\n][^<>\n]{0,40})?/?>)`)

	// metName is "met" as a name: m, e, t as they are or as JSON escapes, and behind
	// them a quote in one of its forms, or a colon or equals sign.
	metName = regexp.MustCompile(`^(?i:` + metLetters + `)`)
	metEnd  = regexp.MustCompile("^(?:[\"'`\\\\”’»]|&quot;|&#3[49];|&#x2[27];|%22|%27|[ \t]{0,20}[:=])")
)

// lineKind says whether the line that begins s looks like a fence or a role.
func lineKind(s string) FlagKind {
	if end := strings.IndexByte(window(s), '\n'); end >= 0 {
		s = s[:end]
	}
	s = window(s)
	if strings.Contains(s, "```") || strings.Contains(s, "~~~") {
		if tickLine.MatchString(s) {
			return FlagTicks
		}
	}
	// Most lines begin with a letter that begins no such word.
	if text := strings.TrimLeft(s, leadSigns); text == "" || !strings.Contains("HASUDJECBbes", text[:1]) {
		return ""
	}
	switch {
	case fenceLine.MatchString(s):
		return FlagFence
	case roleLine.MatchString(s):
		return FlagRole
	}
	return ""
}

// metAt is the length of the name met at i, 0 when there is none: it must begin a
// word and be followed by what ends or assigns a name.
func metAt(data string, i int) int {
	rest := window(data[i:])
	if len(rest) < 3 || !strings.Contains(`eE\u`, rest[1:2]) {
		return 0
	}
	before, _ := utf8.DecodeLastRuneInString(data[:i])
	if data[i] != '\\' && (before == '_' || unicode.IsLetter(before) || unicode.IsDigit(before)) && !escapedBefore(data[:i]) {
		return 0
	}
	n := len(metName.FindString(rest))
	if n == 0 || !metEnd.MatchString(rest[n:]) {
		return 0
	}
	return n
}

// atSigns is the length of the run of @ at i when it could name a file, 0 when it
// could not: nothing follows (as in a diff's @@ lines), or it stands behind a word
// and no path begins there (as in an address).
func atSigns(data string, i int) int {
	end := i
	for end < len(data) && data[end] == '@' {
		end++
	}
	next, _ := utf8.DecodeRuneInString(data[end:])
	before, _ := utf8.DecodeLastRuneInString(data[:i])
	switch {
	case end == len(data) || unicode.IsSpace(next):
		return 0
	case end == i+1 && (unicode.IsLetter(before) || unicode.IsDigit(before) || before == '_') && !strings.ContainsRune("/.~\\\"'", next):
		return 0
	}
	return end - i
}

// escapedBefore: a letter or digit before met may be the end of an escaped quote
// (\u0022met, %22met) or of a line break (\nmet).
func escapedBefore(before string) bool {
	for _, end := range []string{"0022", "0027", "%22", "%27", `\n`, `\t`, `\r`} {
		if strings.HasSuffix(before, end) {
			return true
		}
	}
	return false
}
