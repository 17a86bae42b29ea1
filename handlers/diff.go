package handlers

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// diffLimits say how much of a difference one page shows.
type diffLimits struct {
	total int // lines of all files together
	file  int // lines of one file
	line  int // bytes of one line
	files int // files of one page
	marks int // of one file, for signs that cannot be seen
	tree  bool
	open  bool
}

var (
	diffOnPlan = diffLimits{total: 300, file: 150, line: 400, files: 30, marks: 10}
	diffOnPage = diffLimits{total: 700, file: 350, line: 400, files: 60, marks: 20, tree: true, open: true}
	diffOfFile = diffLimits{total: 10_000, file: 10_000, line: 4000, files: 1, marks: 1000, open: true}
)

// diff is what the plan has changed so far.
func (b *planBuilder) diff(ctx context.Context) (views.DiffCard, error) {
	p := b.plan()
	return b.s.diffCard(ctx, p, 0, p.BaseCommit, p.WorkCommit, diffPart{}, diffOnPlan)
}

// diffPart is what of a difference is asked for; the zero value is all of it.
type diffPart struct {
	file string // this file alone
	dir  string // what is in this folder, which ends in a slash
	at   int    // the first file of the page, counted from 0
}

// diffCard compares two commits of a plan. A comparison that git refuses is said
// on the card: the rest of the page is not lost with it.
func (s *Server) diffCard(ctx context.Context, p models.Plan, pass int64, from, to string, part diffPart, limits diffLimits) (views.DiffCard, error) {
	card := views.DiffCard{PlanID: p.ID, Pass: pass, From: from, To: to, Empty: "Nothing has changed yet."}
	switch {
	case part.file != "" && from == "":
		return card, models.Errorf(models.CodeNotFound, "This file was not changed. It may have been typed wrongly.")
	case from == "" && pass == 0:
		card.Empty = "Nothing has changed: the plan has not been started."
		return card, nil
	case pass != 0:
		card.Empty = "This pass changed no files."
	}
	d, err := s.Engine.Diff(ctx, p.ID, from, to)
	if err != nil {
		if ctx.Err() != nil {
			return card, err
		}
		s.Log.Error("difference", "plan", p.ID, "err", err)
		card.Error = "The difference could not be read: the server's log says why. The recorded work is not touched by that."
		return card, nil
	}
	card.Added, card.Deleted, card.Cut = d.Added, d.Deleted, d.Cut
	patches := readPatch(d.Patch)
	left := limits.total
	inTime, end := context.WithTimeout(ctx, cmp.Or(s.ColourTime, highlightTime))
	defer end()
	colours := newHighlighter(inTime, s.colourists)
	files := part.of(d.Files)
	card.Total, card.Dir = len(files), part.dir
	if part.dir != "" {
		card.Added, card.Deleted = 0, 0
		for _, f := range files {
			card.Added, card.Deleted = card.Added+f.Added, card.Deleted+f.Deleted
		}
	}
	first := 0
	if part.at > 0 && part.at < len(files) {
		first = part.at / limits.files * limits.files
	}
	card.First, card.Size = first, limits.files
	if limits.tree && len(files) > 1 {
		card.Tree = diffTree(files, part.dir, diffTreeRows, func(i int) string {
			return views.DiffFilePath(p.ID, pass, part.dir, i/limits.files*limits.files, first, files[i].Path)
		}, func(dir string) string { return views.PlanDiffDirPath(p.ID, pass, dir, 0) })
	}
	for _, f := range files[first:min(len(files), first+limits.files)] {
		file := diffFile(f, patches[f.Path], limits, &left)
		if file.Folded != "" && !f.Binary && part.file == "" && file.Lines > 0 {
			file.Href = views.PlanDiffPath(p.ID, pass, f.Path)
		}
		colours.colour(f.Path, file.Hunks)
		file.MarkSigns(limits.marks)
		file.Open, file.Alone = file.Folded == "" && limits.open, part.file != ""
		card.Files = append(card.Files, file)
	}
	if (part.file != "" || part.dir != "") && len(card.Files) == 0 {
		return card, models.Errorf(models.CodeNotFound, "This file was not changed. It may have been typed wrongly.")
	}
	return card, nil
}

// of is the files that are asked for.
func (p diffPart) of(files []engine.ChangedFile) []engine.ChangedFile {
	if p.file == "" && p.dir == "" {
		return files
	}
	var out []engine.ChangedFile
	for _, f := range files {
		if p.file != "" && f.Path == p.file || p.file == "" && strings.HasPrefix(f.Path, p.dir) {
			out = append(out, f)
		}
	}
	return out
}

// readPatch is the files of a patch by their new path, those of deleted files
// by their old one. What cannot be read is left out; the list of files is
// complete without it.
func readPatch(patch []byte) map[string]patchedFile {
	out := map[string]patchedFile{}
	files, _, _ := gitdiff.Parse(bytes.NewReader(patch)) // a cut patch ends in an error after its whole files
	for _, f := range files {
		name := f.NewName
		if name == "" {
			name = f.OldName
		}
		out[name] = patchedFile{before: out[name].now, now: f}
	}
	return out
}

func diffFile(f engine.ChangedFile, patch patchedFile, limits diffLimits, left *int) views.DiffFile {
	out := views.DiffFile{Status: f.Status, Path: f.Path, OldPath: f.OldPath, Added: f.Added, Deleted: f.Deleted, Binary: f.Binary}
	out.Turns = turnsText(f, patch.fragments())
	out.Became, out.Target = becomes(f, patch)
	lines := 0
	for _, frag := range patch.fragments() {
		lines += len(frag.Lines)
	}
	out.Lines = lines
	switch {
	case !patch.whole(f):
		out.Folded = "Its lines, and whether it is a link or can be executed, are beyond what can be shown here. Fetch the branch to read them."
	case f.Binary && lines == 0:
		out.Folded = "A binary file."
	case lines == 0 && f.Status == "renamed":
		out.Folded = "Renamed without a change."
	case lines == 0 && f.Status == "added":
		out.Folded = "An empty file."
	case lines == 0:
		out.Folded = "No line was changed."
	case generated(f.Path) && limits.file < diffOfFile.file:
		out.Folded = fmt.Sprintf("Looks like a generated file: %d lines with those around the changes.", lines)
	case lines > limits.file:
		out.Folded = fmt.Sprintf("%d lines are too many to be shown here.", lines)
	case lines > *left:
		out.Folded = "The page shows enough already."
	default:
		*left -= lines
		out.Hunks = hunks(patch.fragments(), limits.line)
	}
	return out
}

// turnsText says which signs of a file turn the direction of text and where the
// first one stands, whether the line is shown or not; "" when there is none.
func turnsText(f engine.ChangedFile, fragments []*gitdiff.TextFragment) string {
	var found []string
	look := func(text string) bool {
		any := false
		for _, r := range text {
			if views.TurnsText(r) {
				any = true
				if code := views.SignCode(r); !slices.Contains(found, code) {
					found = append(found, code)
				}
			}
		}
		return any
	}
	where := ""
	if look(f.Path) || look(f.OldPath) {
		where = "in its name"
	}
	for _, frag := range fragments {
		at := frag.NewPosition
		for _, l := range frag.Lines {
			if look(l.Line) && where == "" {
				where = fmt.Sprintf("first near line %d", at)
			}
			if l.Op != gitdiff.OpDelete {
				at++
			}
		}
	}
	if where == "" {
		return ""
	}
	return fmt.Sprintf("holds characters that turn the direction of text (%s), %s. What a program reads there is not what it would look like, so they are shown by their numbers.", strings.Join(found, ", "), where)
}

func hunks(fragments []*gitdiff.TextFragment, longest int) []views.DiffHunk {
	var out []views.DiffHunk
	for _, frag := range fragments {
		h := views.DiffHunk{Head: strings.TrimSpace(frag.Header())}
		oldAt, newAt := frag.OldPosition, frag.NewPosition
		for _, l := range frag.Lines {
			line := views.DiffLine{Op: ' '}
			text, cut := cutText(strings.ToValidUTF8(strings.TrimSuffix(l.Line, "\n"), "\uFFFD"), longest)
			if line.Text = text; cut {
				line.Text += " …"
			}
			switch l.Op {
			case gitdiff.OpAdd:
				line.Op, line.New = '+', newAt
				newAt++
			case gitdiff.OpDelete:
				line.Op, line.Old = '-', oldAt
				oldAt++
			default:
				line.Old, line.New = oldAt, newAt
				oldAt++
				newAt++
			}
			h.Lines = append(h.Lines, line)
			if l.NoEOL() {
				h.Lines = append(h.Lines, views.DiffLine{Op: '\\', Text: "No line break at the end of the file"})
			}
		}
		out = append(out, h)
	}
	return out
}

// generated says whether a file is one that people rarely read: a lock file, a
// bundle, a vendored or generated source.
func generated(name string) bool {
	base := path.Base(name)
	switch base {
	case "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "go.sum", "Cargo.lock", "poetry.lock", "composer.lock", "Gemfile.lock", "uv.lock":
		return true
	}
	for _, end := range []string{".min.js", ".min.css", ".map", "_templ.go", ".pb.go", "_pb2.py", ".snap"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	for _, dir := range []string{"vendor/", "node_modules/", "dist/"} {
		if strings.HasPrefix(name, dir) || strings.Contains(name, "/"+dir) {
			return true
		}
	}
	return false
}

// GET /plans/:id/diff?pass=&file=&dir=&at=
func (s *Server) showPlanDiff(c echo.Context) error {
	id, err := planParam(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	p, err := s.Reader.Plan(ctx, id)
	if err != nil {
		return err
	}
	v := views.DiffPage{Plan: p.Title, PlanID: id, Title: "Changes", File: c.QueryParam("file")}
	from, to, passID := p.BaseCommit, p.WorkCommit, int64(0)
	if given := c.QueryParam("pass"); given != "" {
		passID, _ = strconv.ParseInt(given, 10, 64) // no number is no pass: not found
		pass, err := s.Reader.Pass(ctx, passID)
		if err != nil {
			return err
		}
		if pass.PlanID != id {
			return models.Errorf(models.CodeNotFound, "This plan has no such pass.")
		}
		from, to = pass.StartCommit, pass.EndCommit
		v.Title = fmt.Sprintf("Changes of pass %d", pass.Number())
	}
	limits := diffOnPage
	if v.File != "" {
		limits = diffOfFile
	}
	part := diffPart{file: v.File, dir: c.QueryParam("dir"), at: int(min(numberParam(c, "at"), 1<<20))}
	if part.dir != "" && !strings.HasSuffix(part.dir, "/") {
		part.dir += "/"
	}
	if v.Card, err = s.diffCard(ctx, p, passID, from, to, part, limits); err != nil {
		return err
	}
	if v.PageMeta, err = s.meta(c, v.Title+" of "+p.Title, views.NavPlans); err != nil {
		return err
	}
	return s.page(c, http.StatusOK, views.PlanDiffPage(v))
}
