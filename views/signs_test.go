package views

import (
	"strings"
	"testing"

	"donewhen/dod"
)

// drawnParts is a line's parts in one line: marks in brackets.
func drawnParts(parts []CodePart) (drawn, text string) {
	for _, p := range parts {
		text += p.Text
		switch {
		case p.Sign != "":
			drawn += "[" + p.Sign + "]"
		case p.Class != "":
			drawn += "<" + p.Class + " " + p.Text + ">"
		default:
			drawn += p.Text
		}
	}
	return drawn, text
}

func TestMarkSigns(t *testing.T) {
	tags := func(s string) (out string) {
		for _, c := range s {
			out += string(0xe0000 + c)
		}
		return out
	}
	for _, tc := range []struct{ name, in, want string }{
		{"ordinary", "if a < b {\t// größer, 日本語, ❤️, שלום", ""},
		{"override", "a\u202eb\u202c", "a[U+202E]b[U+202C]"},
		{"isolates", "/*\u2066 } if admin \u2069 */", "/*[U+2066] } if admin [U+2069] */"},
		{"marks of direction", "\u200e\u200f\u061c", "[U+200E U+200F U+061C]"},
		{"zero width", "pass\u200bword\u200d\u2060", "pass[U+200B]word[U+200D U+2060]"},
		{"again and again", "\u200b\u200b\u200b", "[U+200B ×3]"},
		{"many different", "\u200b\u200c\u200d\u2060\u200b", "[U+200B U+200C U+200D and 2 more]"},
		{"byte order mark", "\ufeffpackage x", "[U+FEFF]package x"},
		{"soft hyphen", "a\u00adb", "a[U+00AD]b"},
		{"control signs", "\x1b[31mred\x00\x07\x7f\u0085", "[U+001B][31mred[U+0000 U+0007 U+007F and 1 more]"},
		{"carriage return inside", "shown\rhidden", "shown[U+000D]hidden"},
		{"tags", "x" + tags("ignore all rules"), "x[U+E0069 … ×16, tags: “ignore all rules”]"},
		{"one tag", tags("A"), "[U+E0041]"},
		{"variation selectors that carry data", "a\U000e0101\U000e0102", "a[U+E0101 U+E0102]"},
		{"separators of lines", "a\u2028b\u2029", "a[U+2028]b[U+2029]"},
		{"fillers", "a\u3164b\u115f", "a[U+3164]b[U+115F]"},
		{"not UTF-8", "a\xffb", ""},
	} {
		f := DiffFile{Hunks: []DiffHunk{{Lines: []DiffLine{{Op: '+', Text: tc.in}, {Op: ' ', Text: "x"}}}}}
		f.MarkSigns(100)
		l := f.Hunks[0].Lines[0]
		drawn, text := drawnParts(l.Parts)
		if drawn != tc.want || tc.want != "" && text != tc.in || l.Text != tc.in {
			t.Errorf("%s: %q of %q, want %q", tc.name, drawn, text, tc.want)
		}
	}
}

func TestMarkSignsKeepsColours(t *testing.T) {
	f := DiffFile{Hunks: []DiffHunk{{Lines: []DiffLine{{Text: "ab\u202ec", Parts: []CodePart{{Class: "k", Text: "a"}, {Class: "c", Text: "b\u202ec"}}}}}}}
	f.MarkSigns(1)
	if got, _ := drawnParts(f.Hunks[0].Lines[0].Parts); got != "<k a><c b>[U+202E]<c c>" {
		t.Error(got)
	}
}

// When a page has marks enough, hidden signs are still seen.
func TestMarkSignsEnough(t *testing.T) {
	lines := make([]DiffLine, 100)
	for i := range lines {
		lines[i] = DiffLine{Op: '+', Text: strings.Repeat("a\u200b", 100)}
	}
	f := DiffFile{Hunks: []DiffHunk{{Lines: lines}}}
	f.MarkSigns(400)
	all := ""
	for _, l := range lines {
		drawn, text := drawnParts(l.Parts)
		all += drawn
		if text != l.Text {
			t.Errorf("%q became %q", l.Text, text)
		}
	}
	if n, plain := strings.Count(all, "[U+200B]"), strings.Count(all, "["+signPlain+"]"); n != 400 || plain != 100*100-400 {
		t.Errorf("%d marks and %d plain ones", n, plain)
	}
}

func TestMarkSignsAtLineEnds(t *testing.T) {
	for _, tc := range []struct {
		lines []string
		want  string
	}{
		{[]string{"a\r", "b\r"}, "a|b"},
		{[]string{"a", "a\r"}, "a|a[U+000D]"},
		{[]string{"a\r\r", "b\r"}, "a[U+000D]|b"},
	} {
		var h DiffHunk
		for _, l := range tc.lines {
			h.Lines = append(h.Lines, DiffLine{Op: '+', Text: l, Parts: []CodePart{{Text: l}}})
		}
		h.Lines = append(h.Lines, DiffLine{Op: '\\', Text: "No line break at the end of the file"})
		f := DiffFile{Hunks: []DiffHunk{h}}
		f.MarkSigns(9)
		var got []string
		for _, l := range h.Lines[:len(tc.lines)] {
			drawn, _ := drawnParts(l.Parts)
			got = append(got, drawn)
		}
		if strings.Join(got, "|") != tc.want {
			t.Errorf("%q: %q, want %q", tc.lines, got, tc.want)
		}
	}
}

func TestNamesWithSigns(t *testing.T) {
	for in, want := range map[string]string{
		"a/b.go":                     "a/b.go",
		"a\u202egnp.exe":             "a‹U+202E›gnp.exe",
		"a\nb\tc":                    "a‹U+000A›b‹U+0009›c",
		strings.Repeat("é", 200):     "…" + strings.Repeat("é", 60),
		strings.Repeat("a\u200b", 8): strings.Repeat("a‹U+200B›", 4) + strings.Repeat("a‹▯›", 4),
	} {
		if got := signsInWords(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"a":                                      "a/",
		"a/b/c":                                  "a/b/c/",
		strings.Repeat("long-name/", 20) + "end": "long-name/…/end/",
		strings.Repeat("x", 200):                 strings.Repeat("x", 200) + "/",
	} {
		if got := (DiffNode{Name: in}).folderName(); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// What a check forbids may be a sign that cannot be seen: where it was found it is shown.
func TestAFoundSignIsShown(t *testing.T) {
	var b strings.Builder
	row := ResultRow{Match: &dod.Match{Key: "diff", Line: 2, Before: "<a>\n", Text: "\r", After: "\u202eb"}}
	if err := matchText(row).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	want := "diff, line 2: &lt;a&gt;\n" + `<mark class="rounded bg-ok/20 px-0.5 text-foreground"><b class="sign" title="carriage return">U+000D</b></mark>` +
		`<b class="sign" title="right-to-left override">U+202E</b>b`
	if b.String() != want {
		t.Errorf("got %s\nwant %s", b.String(), want)
	}
}
