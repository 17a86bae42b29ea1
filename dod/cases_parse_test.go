package dod_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"donewhen/dod"
)

func textsOf(criteria []dod.Criterion) []string {
	texts := make([]string, len(criteria))
	for i, c := range criteria {
		texts[i] = c.Text
		if c.Index != i+1 {
			panic("indexes do not follow the reading order")
		}
	}
	return texts
}

func wantTexts(t *testing.T, input string, want ...string) {
	t.Helper()
	if got := textsOf(dod.ParseCriteria(input)); !slices.Equal(got, want) {
		t.Errorf("ParseCriteria(%q)\n got %q\nwant %q", input, got, want)
	}
}

func TestA1_01_NumberedWithBracket(t *testing.T) {
	wantTexts(t, "1) [ ] Release note is written\n2) Build is tagged\n", "Release note is written", "Build is tagged")
}

func TestA1_02_UnknownBoxMarkIsKept(t *testing.T) {
	wantTexts(t, "- [~] Old sign-in page is gone\n- [ ] New page is linked from the menu\n- [X] Help text has moved\n",
		"Old sign-in page is gone", "New page is linked from the menu", "Help text has moved")
}

func TestA1_03_WrappedBulletIsOneCriterion(t *testing.T) {
	wantTexts(t, `- Every linked ticket is closed.

- If the change touches code or docs, it came in
  by merge request and that request
  has been merged.
`, "Every linked ticket is closed.",
		"If the change touches code or docs, it came in by merge request and that request has been merged.")
}

func TestA1_04_RealFileWithHeadings(t *testing.T) {
	p := dod.Parse("# What done means\n\nA story is finished when all points below hold.\n\n## Code\n" +
		"- [ ] Reviewed by a colleague  \n- [ ] Merged without conflicts  \n\n## Checks\n- [ ] Unit checks pass  \n")
	want := []string{"A story is finished when all points below hold.",
		"Reviewed by a colleague", "Merged without conflicts", "Unit checks pass"}
	if got := textsOf(p.Criteria); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(p.Ignored) != 3 || p.Ignored[1].Text != "## Code" || p.Ignored[1].Line != 5 || p.Ignored[1].Why != "a heading" {
		t.Errorf("the headings are not shown as ignored: %+v", p.Ignored)
	}
	if !slices.Equal(p.Lines, []int{3, 6, 7, 10}) {
		t.Errorf("lines %v", p.Lines)
	}
}

func TestA1_05_FencedBlockIsNoCriterion(t *testing.T) {
	wantTexts(t, "1. Write the request text:\n\n   ```markdown\n   ## Try-out plan\n   - [ ] page opens on a phone\n   ```\n\n- [x] Checks are green\n",
		"Write the request text:", "Checks are green")
}

func TestA1_06_UnicodeBullets(t *testing.T) {
	wantTexts(t, "Ready when:\n• Reviewed by a peer\n•\tUnit checks green\n◦ Demo given to two users\n– Owner has accepted it\n",
		"Ready when:", "Reviewed by a peer", "Unit checks green", "Demo given to two users", "Owner has accepted it")
}

func TestA1_07_EmptyBulletsWithCRLF(t *testing.T) {
	wantTexts(t, "- \r\n- Tests pass\r\n\r\n*\r\n   \r\n", "Tests pass")
}

func TestA1_08_HashInsideALine(t *testing.T) {
	wantTexts(t, "- Order #222 is in the list\n- Delete works #flaky-on-mac\n# only this line starts with a hash and a blank\n",
		"Order #222 is in the list", "Delete works #flaky-on-mac")
}

func TestA1_20_EqualTextsKeepTheirPlace(t *testing.T) {
	wantTexts(t, "1. Map examples\n1. Write them down\n2. Keep each one small\n1. Write them down\n",
		"Map examples", "Write them down", "Keep each one small", "Write them down")
}

func TestA1_21_MarkersNeedABlank(t *testing.T) {
	wantTexts(t, "-1 is returned on error\n*.tmp files are ignored\n3.14 is shown as 3.1\n**Bold** claim holds\n+ plus sign works\n2) [x] bracket works\n",
		"-1 is returned on error", "*.tmp files are ignored", "3.14 is shown as 3.1", "**Bold** claim holds", "plus sign works", "bracket works")
}

func TestA1_22_VeryLongLineIsKeptWhole(t *testing.T) {
	end := "`YYYY-MM-DD` {a} <b> & fin"
	long := strings.Repeat("Chaque écran é ", 1400)
	long = string([]rune(long)[:20000-utf8.RuneCountInString(end)]) + end
	got := dod.ParseCriteria("- " + long + "\n- Court\n")
	if len(got) != 2 || got[0].Text != long || utf8.RuneCountInString(got[0].Text) != 20000 || got[1].Text != "Court" {
		t.Errorf("%d criteria, first of %d runes", len(got), utf8.RuneCountInString(got[0].Text))
	}
}
