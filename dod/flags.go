package dod

import (
	"encoding/base64"
	"iter"
	"regexp"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FlagKind is in which way evidence talks to its judge.
type FlagKind string

const (
	// FlagVerdict: a verdict-like object, as in {"met":true,…}.
	FlagVerdict FlagKind = "verdict"
	// FlagInstruction: a sentence to the judge, as in "ignore the above".
	FlagInstruction FlagKind = "instruction"
	// FlagRole: a role or a control token of a chat format, as in <|im_start|>.
	FlagRole FlagKind = "role"
	// FlagFence: a line that looks like the begin or end of a question's part.
	FlagFence FlagKind = "fence"
	// FlagHidden: signs that cannot be seen, or that turn text around.
	FlagHidden FlagKind = "hidden"
	// FlagEncoded: one of the above inside base64.
	FlagEncoded FlagKind = "encoded"
	// FlagTicks is a code fence's line: quoted, never flagged.
	FlagTicks FlagKind = "ticks"
)

// Flag is one place where evidence talks to its judge. It is a hint for the lead
// and changes no verdict: honest work on prompts looks the same.
type Flag struct {
	Kind FlagKind `json:"kind"`
	// Line is the 1-based line in the evidence.
	Line int `json:"line"`
	// Excerpt is the line around the place, one line of at most about 160 bytes,
	// with hidden signs made visible.
	Excerpt string `json:"excerpt"`
}

const (
	maxFlagsOfAKind = 5
	maxFlagged      = 4 << 20 // evidence beyond this is not looked at
	maxEncoded      = 64 << 10
)

// TalksToJudge lists where evidence addresses its judge instead of showing work:
// at most five places of a kind, in order. It takes linear time and looks at the
// first 4 MiB.
func TalksToJudge(evidence string) []Flag {
	if len(evidence) > maxFlagged {
		evidence = evidence[:maxFlagged]
	}
	f := flagger{evidence: evidence, lines: newLineIndex(evidence), count: map[FlagKind]int{}, seen: map[placeKey]bool{}}
	f.marks()
	f.phrases()
	f.encoded()
	sort.SliceStable(f.flags, func(i, j int) bool { return f.flags[i].Line < f.flags[j].Line })
	return f.flags
}

type placeKey struct {
	kind FlagKind
	line int
}

type flagger struct {
	evidence string
	lines    *lineIndex
	count    map[FlagKind]int
	seen     map[placeKey]bool
	flags    []Flag
}

func (f *flagger) add(kind FlagKind, offset int) {
	if f.count[kind] >= maxFlagsOfAKind {
		return
	}
	key := placeKey{kind, f.lines.line(offset)}
	if f.seen[key] {
		return
	}
	f.seen[key] = true
	f.count[kind]++
	f.flags = append(f.flags, Flag{Kind: kind, Line: key.line, Excerpt: f.excerpt(offset)})
}

// excerpt is the part of the line around offset.
func (f *flagger) excerpt(offset int) string {
	from, to := max(0, offset-40), min(len(f.evidence), offset+120)
	if at := strings.LastIndexByte(f.evidence[from:offset], '\n'); at >= 0 {
		from += at + 1
	}
	if at := strings.IndexByte(f.evidence[offset:to], '\n'); at >= 0 {
		to = offset + at
	}
	for from < offset && !utf8.RuneStart(f.evidence[from]) {
		from++
	}
	for to > offset && to < len(f.evidence) && !utf8.RuneStart(f.evidence[to]) {
		to--
	}
	text := strings.ReplaceAll(Quote(f.evidence[from:to], ""), dataMark, "")
	return clip(strings.TrimSpace(text), 160)
}

// strictRole are the roles whose line is flagged: "System: Linux" and "User: bob"
// are ordinary output.
var strictRole = regexp.MustCompile(leadIn + `(?i:human|assistant|judge|evaluator|claude|chatgpt)\b`)

// marks flags what quoting marks, apart from what honest output is full of.
func (f *flagger) marks() {
	q := quoter{data: f.evidence}
	q.found = func(kind FlagKind, offset int) {
		switch kind {
		case FlagFence:
			f.add(kind, offset)
		case FlagRole:
			at := window(f.evidence[offset:])
			if strictRole.MatchString(at) || chatToken.MatchString(at) {
				f.add(kind, offset)
			}
		case FlagHidden:
			if r, _ := utf8.DecodeRuneInString(f.evidence[offset:]); suspicious(r) {
				f.add(kind, offset)
			}
		}
	}
	q.run()
}

// chatToken are the control tokens that hardly stand in ordinary HTML or XML.
var chatToken = regexp.MustCompile(`^(?:<\||<｜|\[/?INST|<</?SYS|<(?:start|end)_of_turn|</?(?i:system|assistant|human|evidence|criterion|verdict|judge|judgement|instructions?|untrusted|function_(?:calls|results)|tool_(?:use|calls?|results?|response))\b)`)

// suspicious are the hidden signs that ordinary output has no use for. Control
// signs of terminals, soft hyphens, byte order marks and the joiners of emoji are
// not among them.
func suspicious(r rune) bool {
	switch {
	case r == '\u200b' || r == '\u2060' || r >= '\u2061' && r <= '\u2064':
		return true
	case r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069':
		return true
	case r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0':
		return true
	}
	return r >= 0xfe00 && r <= 0xfe0d || r >= 0xe0000 && r <= 0xe0fff
}

// phrase is a pattern over folded text. It is only tried around its words, which
// are much cheaper to find: each match holds one of them. A word that ends with a
// hyphen is the begin of one.
type phrase struct {
	kind  FlagKind
	words []string
	re    *regexp.Regexp
}

// The texts are folded before: small letters, one blank between words, look-alike
// letters and hidden signs undone.
var phrases = []phrase{
	{FlagVerdict, []string{"met", "u006det", "u0074", "u0054"}, regexp.MustCompile(
		`(?:["'` + "`" + `\\]|&quot;|&#3[49];|%2[27]|u0022|[{,] ?)` + metLetters + `(?:["'` + "`" + `\\]|&quot;|&#3[49];|%2[27]|u0022)* ?(?::|=|%3a) ?\W{0,3}(?:true|false|yes|no)\b`)},
	{FlagVerdict, []string{"met"}, regexp.MustCompile(`(?:^|[\n.;!] ?)(?:the )?(?:final )?(?:verdict|judge?ment) ?(?:is )?[:=]? ?\W{0,3}(?:met|passed|satisfied|true)\b`)},
	{FlagInstruction, []string{"ignor-", "disregard-", "forget", "overrid-", "bypass-"}, regexp.MustCompile(
		`\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass)\b.{0,30}\b(?:above|previous|prior|earlier|preceding|foregoing|all|your|these)\b.{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|directions?|criteria|criterion|text|evidence|told)\b`)},
	{FlagInstruction, []string{"ignore"}, regexp.MustCompile(`\b(?:ignore|disregard) (?:all of |everything )?(?:the )?(?:above|previous|prior)\b`)},
	{FlagInstruction, []string{"judge", "evaluator", "grader", "reviewer"}, regexp.MustCompile(
		`\b(?:dear|attention|hello|hey|hi|note (?:to|for)|message (?:to|for)|instructions? (?:to|for)|notice to|you are|you're|you as|to) (?:(?:the|an?|my|our|now|llm|ai|automated|model|this) ){0,3}(?:judge|evaluator|grader|ai reviewer|llm reviewer|automated reviewer)\b`)},
	{FlagInstruction, []string{"reply", "respond", "answer", "output", "return", "print", "say", "write", "emit"}, regexp.MustCompile(
		`\b(?:reply|respond|answer|output|return|print|say|write|emit) (?:only |just |exactly |with |the |this |that |following |json |object |to |me ){1,5}.{0,20}\b(?:met|verdict|satisfied)\b`)},
	{FlagInstruction, []string{"met", "satisfied", "fulfilled", "verdict"}, regexp.MustCompile(
		`\b(?:mark|treat|count|consider|judge|rate|grade|score|report|set|declare|deem) (?:(?:this|the|it|all|every|each|criterion|criteria|condition|work|task|as|to be|value of|field|met|verdict|to) ){1,6}.{0,10}\b(?:met|satisfied|fulfilled|passed|true)\b`)},
	{FlagInstruction, []string{"system prompt", "new instruction", "developer mode", "jailbreak", "system override", "admin override", "updated instruction", "real instruction"}, regexp.MustCompile(
		`\b(?:new|updated|revised|real|actual|your) (?:system )?(?:prompt|instructions)\b ?(?::|is|are|follow)|\b(?:developer mode|jailbreak|(?:system|admin) override)\b|\bsystem prompt\b.{0,40}\b(?:chang|updat|overrid|reveal|print|ignor)`)},
}

// around is how far a match may reach before and behind its word.
const around = 160

// phrases flags sentences and objects in the folded text.
func (f *flagger) phrases() {
	folded, at := foldText(f.evidence)
	for _, p := range phrases {
		p.find(folded, func(offset int) bool {
			f.add(p.kind, at.original(offset))
			return f.count[p.kind] < maxFlagsOfAKind
		})
	}
}

// find calls found with the begin of each match until it returns false. Places
// that lie close together are looked at once, so the work is linear.
func (p phrase) find(folded string, found func(offset int) bool) {
	for from, to := range p.places(folded) {
		for _, hit := range p.re.FindAllStringIndex(folded[from:to], maxFlagsOfAKind) {
			if !found(from + hit[0]) {
				return
			}
		}
	}
}

// places are the parts of folded around the phrase's words, in order, not
// overlapping.
func (p phrase) places(folded string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		next := make([]int, len(p.words)) // where each word stands next
		for i, word := range p.words {
			next[i] = wordFrom(folded, word, 0)
		}
		from, to := -1, -1
		for {
			first := -1
			for i, at := range next {
				if at >= 0 && (first < 0 || at < next[first]) {
					first = i
				}
			}
			if first < 0 {
				break
			}
			at := next[first]
			if at-around > to && to >= 0 {
				if !yield(from, to) {
					return
				}
				from = -1
			}
			if from < 0 {
				from = max(0, at-around)
			}
			to = min(len(folded), at+around)
			next[first] = wordFrom(folded, p.words[first], at+1)
		}
		if from >= 0 {
			yield(from, to)
		}
	}
}

// wordFrom is where word stands in s at or after from, -1 when it does not.
func wordFrom(s, word string, from int) int {
	stem, begins := strings.CutSuffix(word, "-")
	for {
		at := strings.Index(s[from:], stem)
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(stem)
		if begins || end == len(s) || !letter(s[end]) {
			return at
		}
		from = at + 1
	}
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' }

// encodedRun is base64 of at least a short sentence.
var encodedRun = regexp.MustCompile(`[A-Za-z0-9+/_-]{20,}={0,2}`)

// encoded flags base64 that holds one of the phrases. Each byte is decoded once.
func (f *flagger) encoded() {
	for _, hit := range encodedRun.FindAllStringIndex(f.evidence, -1) {
		text := f.evidence[hit[0]:min(hit[1], hit[0]+maxEncoded)]
		text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
		raw, err := base64.RawStdEncoding.DecodeString(text[:len(text)-len(text)%4])
		if err != nil || !utf8.Valid(raw) {
			continue
		}
		folded, _ := foldText(string(raw))
		for _, p := range phrases {
			p.find(folded, func(int) bool {
				f.add(FlagEncoded, hit[0])
				return false
			})
		}
	}
}

// origins maps offsets of a folded text back: for each of its bytes the offset in
// the text that it came from.
type origins []int32

func (o origins) original(folded int) int {
	if len(o) == 0 {
		return 0
	}
	return int(o[min(folded, len(o)-1)])
}

// foldText undoes what hides words from a pattern: hidden signs go, runs of blanks
// become one, letters small, look-alikes of other scripts, full-width and accented
// letters plain. A blank line stays as a line break.
func foldText(s string) (string, origins) {
	var b strings.Builder
	b.Grow(len(s))
	at := make(origins, 0, len(s))
	blank, breaks := false, 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\n':
			blank = true
			breaks++
		case r < utf8.RuneSelf && r != ' ' && r != '\t' && r >= 0x20 || r >= utf8.RuneSelf && !unicode.IsSpace(r):
			if Hidden(r) || r >= utf8.RuneSelf && unicode.Is(unicode.Mn, r) {
				break
			}
			if blank {
				sep := byte(' ')
				if breaks > 1 {
					sep = '\n'
				}
				b.WriteByte(sep)
				blank, breaks = false, 0
			}
			plain(&b, r)
		default:
			blank = blank || !Hidden(r)
		}
		for len(at) < b.Len() {
			at = append(at, int32(i))
		}
		i += size
	}
	return b.String(), at
}

// plain writes r as small plain letters.
func plain(b *strings.Builder, r rune) {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		b.WriteRune(r)
		return
	}
	if look, ok := lookAlike[unicode.ToLower(r)]; ok {
		b.WriteRune(look)
		return
	}
	for _, d := range norm.NFKD.String(string(r)) {
		if unicode.Is(unicode.Mn, d) {
			continue
		}
		d = unicode.ToLower(d)
		if look, ok := lookAlike[d]; ok {
			d = look
		}
		b.WriteRune(d)
	}
}

// lookAlike are the letters of other scripts, and quotes, that pass for plain ones.
var lookAlike = map[rune]rune{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', 'м': 'm', 'н': 'h',
	'о': 'o', 'р': 'p', 'ԛ': 'q', 'ѕ': 's', 'т': 't', 'у': 'y', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'ґ': 'r', 'г': 'r',
	'α': 'a', 'β': 'b', 'ε': 'e', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'u', 'χ': 'x', 'ı': 'i', 'ɡ': 'g',
	'“': '"', '”': '"', '„': '"', '«': '"', '»': '"', '‘': '\'', '’': '\'', '：': ':',
}
