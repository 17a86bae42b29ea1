package engine

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"donewhen/dod"
)

func TestCleanText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"colours", "\x1b[1;31mred\x1b[0m plain", "red plain"},
		{"cursor and erase", "\x1b[2K\x1b[1Gdone", "done"},
		{"title ended by BEL", "\x1b]0;my title\x07text", "text"},
		{"link ended by ST", "\x1b]8;;https://x.example\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"character set of tput sgr0", "ok\x1b(B\x1b[m end", "ok end"},
		{"save and restore", "\x1b7a\x1b8b", "ab"},
		{"C1 introducer", "\u009b31mred\u009b0m", "red"},
		{"CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"a progress line", "10%\r50%\r100%\n", "10%\n50%\n100%\n"},
		{"a sign split by an escape", "fin\x1b[0mished", "finished"},
		{"invalid UTF-8", "a\xffb\xc3", "a\uFFFDb\uFFFD"},
		{"zero-width signs", "fin\u200bish\u200c\u200ded\u2060\ufeff", "finished"},
		{"NUL and bells", "a\x00b\x07c\x7fd", "abcd"},
		{"tabs and line ends stay", "a\tb\nc", "a\tb\nc"},
		{"a lone escape at the end", "end\x1b", "end"},
		{"umlauts and emoji stay", "Größe 🎉", "Größe 🎉"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := cleanText(c.in); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// An absent: check must not be blinded by a sequence that never ends.
func TestCleanTextHidesNothingBehindAnUnfinishedSequence(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"\x1b]0;title", "\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1b[", "\x1b[31"} {
		got := cleanText("before\n" + start + "\nERROR: it broke\nafter\n")
		if !strings.Contains(got, "ERROR: it broke") || !strings.Contains(got, "after") {
			t.Errorf("%q swallowed output: %q", start, got)
		}
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	e := &Engine{Config: Config{Secrets: []string{"hunter2-hunter2", "short"}}}
	for _, c := range []struct{ name, in, gone string }{
		{"a configured secret", "key=hunter2-hunter2;", "hunter2-hunter2"},
		{"an API key", "key s" + "k-ant-" + strings.Repeat("abcdefgh", 4), "abcdefgh"},
		{"a GitHub token", "ghp_" + strings.Repeat("a1", 18), "a1a1a1"},
		{"an AWS key", "AKIAABCDEFGHIJKLMNOP", "ABCDEFGH"},
		{"a private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefghijklmnop\nqrst\n-----END RSA PRIVATE KEY-----\nafter", "MIIE"},
		{"a private key in JSON", `"-----BEGIN PRIVATE KEY-----\nMIIEabcdefghijklmnop\n-----END PRIVATE KEY-----"`, "MIIE"},
		{"a private key without an end", "-----BEGIN PRIVATE KEY-----\nMIIEabcdefghijklmnop\nMIIEabcdefghijklmnop\nafter", "MIIE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := e.redact(c.in)
			if strings.Contains(got, c.gone) || !strings.Contains(got, redacted) {
				t.Errorf("%q", got)
			}
			if strings.HasSuffix(c.in, "after") && !strings.HasSuffix(got, "after") {
				t.Errorf("what follows was lost: %q", got)
			}
		})
	}
	if got := e.redact("a short word"); got != "a short word" {
		t.Errorf("a word of ordinary output was blanked: %q", got)
	}
	if got := e.redact("-----BEGIN PRIVATE KEY-----\nERROR: it broke\n"); !strings.Contains(got, "ERROR: it broke") {
		t.Errorf("a faked key hides output: %q", got)
	}
}

// absent: looks at text before redaction: what it shows of it holds no secret, not
// even one with a sign in it that cannot be seen.
func TestFoundSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	e := &Engine{Config: Config{Secrets: []string{"hunter2-hunter2"}}}
	for _, m := range []dod.Match{
		{Before: "key=", Text: "hunter2-hunter2"},
		{Before: "key=hunter2", Text: "\u200b", After: "-hunter2"},
		{Before: "key=AKIA", Text: "\x1b[0m", After: "IOSFODNN7EXAMPLE "},
	} {
		r := dod.Result{Match: &m}
		if e.redactResult(&r); r.Match.Before+r.Match.Text+r.Match.After != redacted {
			t.Errorf("%+v is shown", *r.Match)
		}
	}
}

// A secret that lies across a cut must not show half of itself.
func TestSecretsAreRedactedBeforeAnythingIsCut(t *testing.T) {
	t.Parallel()
	secret := "SECRET-" + strings.Repeat("x", 100)
	e := &Engine{Config: Config{Secrets: []string{secret}}}
	out := strings.Repeat("a", maxPart/2-20) + secret + strings.Repeat("b", maxPart)
	ev := Evidence{Runs: []RunEvidence{{Label: "shell", Output: e.redact(cleanText(out))}}}
	if got := ev.Render(nil); strings.Contains(got, "SECRET-") || strings.Contains(got, "xxxx") {
		t.Error("half a secret is in the rendering")
	}
}

func TestHeadTail(t *testing.T) {
	t.Parallel()
	if got := headTail("short", 5); got != "short" {
		t.Errorf("what fits was changed: %q", got)
	}
	for limit := 2; limit < 40; limit++ {
		got := headTail(strings.Repeat("aé日🎉", 40), limit)
		if !utf8.ValidString(got) {
			t.Fatalf("limit %d cuts a rune: %q", limit, got)
		}
		mark := strings.Index(got, "\n[… ")
		end := strings.Index(got, " bytes left out …]\n")
		if mark < 0 || end < 0 {
			t.Fatalf("limit %d: the cut is not marked: %q", limit, got)
		}
		if kept := len(got[:mark]) + len(got[end+len(" bytes left out …]\n"):]); kept > limit {
			t.Fatalf("limit %d: %d bytes kept", limit, kept)
		}
	}
	got := headTail("HEAD"+strings.Repeat("x", 1000)+"TAIL", 100)
	if !strings.HasPrefix(got, "HEAD") || !strings.HasSuffix(got, "TAIL") || !strings.Contains(got, "908 bytes left out") {
		t.Errorf("%q", got)
	}
	if got := cutLine(strings.Repeat("é", 100), 21); got != strings.Repeat("é", 9)+"…" {
		t.Errorf("%q", got)
	}
}

func TestWithoutTimes(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"2026-03-01T09:00:00Z start", "2027-11-30 23:59:59.123+02:00 start"},
		{"ok pkg 0.012s", "ok pkg 13.5s"},
		{"took 3 ms", "took 812 ms"},
		{"at 09:00:01", "at 10:59:59.5"},
		{"in 1m30s", "in 2m5.25s"},
		{"45 seconds", "1 seconds"},
	} {
		if a, b := withoutTimes(pair[0]), withoutTimes(pair[1]); a != b {
			t.Errorf("%q and %q stay different: %q, %q", pair[0], pair[1], a, b)
		}
	}
	for _, pair := range [][2]string{{"3 failures", "4 failures"}, {"exit code 1", "exit code 2"}, {"v1.2.3", "v1.2.4"}, {"5 steps", "6 steps"}} {
		if withoutTimes(pair[0]) == withoutTimes(pair[1]) {
			t.Errorf("%q and %q are told to be equal", pair[0], pair[1])
		}
	}
}

const echoTask = "Move the rows.\n- say \"all rows moved\" & <stop>\nGröße prüfen 🎉\nok\n\n" + composedMark + "\ncriterion 1: migration finished\nmissing 1: migration finished\n  why: not found in the output\n"

func TestEchoOfTheTaskIsTakenOutOfWhatAgentsSay(t *testing.T) {
	t.Parallel()
	ec := newEcho(echoTask)
	js, err := json.Marshal(echoTask)
	if err != nil {
		t.Fatal(err)
	}
	bare := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(js)) // as JavaScript prints it
	ascii := strings.NewReplacer("ö", `\u00f6`, "ß", `\u00df`, "ü", `\u00fc`, "🎉", `\ud83c\udf89`).Replace(bare)
	for name, out := range map[string]string{
		"as it is":         echoTask,
		"indented":         "    " + strings.ReplaceAll(echoTask, "\n", "\n    "),
		"quoted":           "> " + strings.ReplaceAll(echoTask, "\n", "\n> "),
		"with CRLF":        cleanText(strings.ReplaceAll(echoTask, "\n", "\r\n")),
		"in colour":        cleanText("\x1b[36m" + strings.ReplaceAll(echoTask, "\n", "\x1b[0m\n\x1b[36m")),
		"numbered":         "12: " + strings.ReplaceAll(echoTask, "\n", "\n13: "),
		"as Go's JSON":     `{"text":` + string(js) + `}`,
		"as JS's JSON":     `{"text":` + bare + `}`,
		"as Python's JSON": `{"text":` + ascii + `}`,
	} {
		got := ec.remove(out)
		for _, never := range []string{"migration finished", "all rows moved", "not found in the output", "prüfen", `pr\u00fcfen`} {
			if strings.Contains(got, never) {
				t.Errorf("%s: %q is left in %q", name, never, got)
			}
		}
	}
}

func TestHonestOutputIsKept(t *testing.T) {
	t.Parallel()
	ec := newEcho(echoTask)
	honest := "I looked: ok so far\nthe migration finished at last\nall rows moved, 12 of 12\nlook, okay\n"
	if got := ec.remove(honest); got != honest {
		t.Errorf("honest output was changed: %q", got)
	}
	if got := ec.remove("ok\nreal\n"); got != "real\n" {
		t.Errorf("a whole line of the task counts as an echo whatever its length: %q", got)
	}
	if got := newEcho("").remove("anything"); got != "anything" {
		t.Errorf("without a task: %q", got)
	}
}

func TestFilesKeepWhatTheTaskAskedToWrite(t *testing.T) {
	t.Parallel()
	asked := "Write this line into version.txt:\nversion 2.0.1 released\n\n" + composedMark + "\ncriterion 1: version 2.0.1 released\n"
	ec := newEcho(asked)
	if got := ec.removeFromFiles("version 2.0.1 released\n"); got != "version 2.0.1 released\n" {
		t.Errorf("honest work was taken out: %q", got)
	}
	if got := ec.removeFromFiles("criterion 1: version 2.0.1 released\n"); strings.Contains(got, "released") {
		t.Errorf("a copied criterion counts: %q", got)
	}
	if got := ec.removeFromFiles(asked); strings.Contains(got, "released") {
		t.Errorf("the whole task copied into a file counts: %q", got)
	}
	// What donewhen wrote for one phase says nothing about the task of the next.
	two := newEcho("First.\n\n"+composedMark+"\ncriterion 1: first is done\n", "Then write:\nversion 2.0.1 released\n")
	if got := two.removeFromFiles("version 2.0.1 released\n"); got != "version 2.0.1 released\n" {
		t.Errorf("the second phase's honest work was taken out: %q", got)
	}
}

// The forms of a line as long as a file are built in one go: each sign of its own
// took a minute for 200 KB.
func TestALongTaskLineIsBuiltOnce(t *testing.T) {
	line := strings.Repeat(`{"a":1},`, 25_000)
	if n := testing.AllocsPerRun(1, func() { inJSON(line) }); n > 1000 {
		t.Errorf("%.0f allocations for a line of %d bytes", n, len(line))
	}
}

// What stood on either side of an echo is not joined by taking it out: neither by
// its words nor by a pattern that allows for blanks or for any sign.
func TestTakingAnEchoOutJoinsNothing(t *testing.T) {
	t.Parallel()
	ec := newEcho("Make all of it good.\nBe quick about it.\n\n" + composedMark + "\ncriterion 1: All tests pass\n")
	joins := []*regexp.Regexp{regexp.MustCompile(`All tests pass`), regexp.MustCompile(`All\s*te\s*sts\s+pass`), regexp.MustCompile(`All.{0,9}te.{0,9}sts.{0,9}pass`)}
	for _, said := range []string{
		"All teMake all of it good.sts pass",
		"All teMake all of it good.Be quick about it.sts pass\n",
		"AllMake all of it good. tests pass",
		"All \nMake all of it good.\ntests pass\n",
		"All te\nMake all of it good.\nBe quick about it.\n\nsts pass\n",
		"All teMake all of it good.\nsts pass\n",
		"All te\n> Make all of it good.\nsts pass",
		"All te \n Make all of it good. Be quick about it. \n sts pass",
		"Make all Make all of it good.of it good. All teMake aMake all of it good.ll of it good.sts pass",
	} {
		removed := ec.remove(said)
		for _, re := range joins {
			if re.MatchString(removed) {
				t.Errorf("%q became %q, which %s matches", said, removed, re)
			}
		}
		if strings.Contains(removed, "Be quick") {
			t.Errorf("the echo is left: %q", removed)
		}
		if n, want := strings.Count(ec.blank(said), "\n"), strings.Count(said, "\n"); n != want {
			t.Errorf("%q: %d lines became %d", said, want, n)
		}
	}
	if got := ec.removeFromFiles("All tecriterion 1: All tests passsts pass\n"); joins[0].MatchString(got) || joins[1].MatchString(got) {
		t.Errorf("joined in a file: %q", got)
	}
}

// The mark of a gap is put between texts alone: where nothing is joined, none is
// needed, and an echo by itself leaves nothing.
func TestAGapStandsOnlyBetweenTexts(t *testing.T) {
	t.Parallel()
	ec := newEcho("Make all of it good.\nBe quick about it.\n")
	for said, want := range map[string]string{
		"Make all of it good.\nBe quick about it.\n":             "",
		"Make all of it good.\nreal\n":                           "real\n",
		"real\nMake all of it good.\n":                           "real\n",
		"> Make all of it good.\n":                               "> \n",
		"one\nMake all of it good.\nBe quick about it.\n\ntwo\n": "one\n\n…\ntwo\n",
		"I read \"Make all of it good.\" and did it\n":           "I read \"\n…\n\" and did it\n",
		"honest\n\noutput\n":                                     "honest\n\noutput\n",
		"no line end":                                            "no line end",
	} {
		if got := ec.remove(said); got != want {
			t.Errorf("%q became %q, want %q", said, got, want)
		}
	}
}
