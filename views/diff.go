package views

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
)

// DiffCard is the difference between two states, file by file.
type DiffCard struct {
	PlanID  string
	Pass    int64 // 0 = the whole plan
	From    string
	To      string
	Files   []DiffFile // of this page
	Total   int        // files of all pages
	First   int        // number of the first one shown, from 0
	Size    int        // files of a page
	Dir     string     // only what is in this folder, "" = all
	Tree    []DiffNode // nil where there is no room for it
	Added   int
	Deleted int
	Cut     bool   // the patch is too large to be shown whole
	Empty   string // what to say when nothing has changed
	Error   string
}

// DiffNode is a row of the tree of changed files: a file, or a folder.
type DiffNode struct {
	Name           string // of a folder with only folders in it, with theirs
	Path           string
	Href           string // of a folder only when what is in it is on a page of its own
	Folder         bool
	First          int    // number of the file in the list, of a folder that of its first one
	Status         string // of a file
	Added, Deleted int
	Files          int
	Nodes          []DiffNode
}

// folderName is a folder's name; of a long chain of folders the first and the last.
func (n DiffNode) folderName() string {
	const most = 80
	first, rest, chain := strings.Cut(n.Name, "/")
	if len(n.Name) <= most || !chain {
		return n.Name + "/"
	}
	return first + "/…/" + rest[strings.LastIndexByte(rest, '/')+1:] + "/"
}

// Add takes in a file or a folder and counts it.
func (n *DiffNode) Add(sub DiffNode) {
	n.Nodes = append(n.Nodes, sub)
	n.Added, n.Deleted, n.Files = n.Added+sub.Added, n.Deleted+sub.Deleted, n.Files+sub.Files
}

// shownOf says which of the files the page shows, "" when it shows all.
func (d DiffCard) shownOf() string {
	if len(d.Files) == d.Total {
		return ""
	}
	return "Files " + strconv.Itoa(d.First+1) + " to " + strconv.Itoa(d.First+len(d.Files)) + " of " + strconv.Itoa(d.Total) + "."
}

// notInTree is how many files the tree has no row for, and no folder's.
func (d DiffCard) notInTree() int {
	n := d.Total
	for _, node := range d.Tree {
		n -= node.Files
	}
	return n
}

// DiffFile is one changed file.
type DiffFile struct {
	Status  string
	Path    string
	OldPath string
	Added   int
	Deleted int
	Binary  bool
	Hunks   []DiffHunk
	Folded  string // why its lines are not shown here, "" when they are
	Href    string // where they are
	Lines   int    // of the patch
	Became  string // what it is where that is no ordinary file, or has changed; "" for nothing to say
	Target  string // where a symbolic link leads, as Became ends
	Turns   string // what it holds that turns the direction of text, "" for nothing
	Open    bool
	Alone   bool // it has a page of its own
}

// label is the file's name where there is no room for a long one, nor for marks.
func (f DiffFile) label() string { return signsInWords(f.Path) }

// DiffHunk is a run of lines with what stands around them.
type DiffHunk struct {
	Head  string
	Lines []DiffLine
}

// DiffLine is one line of a hunk. Old and New are its numbers, 0 for none.
type DiffLine struct {
	Op       byte // ' ', '+', '-', or '\\' for a remark of git's
	Old, New int64
	Text     string
	Parts    []CodePart // Text in its colours, nil when it has none
}

// CodePart is a stretch of source text of one colour, or signs that cannot be
// seen: Sign is then what is shown in their place.
type CodePart struct{ Class, Text, Sign string }

func (l DiffLine) old() string { return lineNumber(l.Old) }
func (l DiffLine) new() string { return lineNumber(l.New) }

func lineNumber(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// sign is what tells the lines apart without colour.
func (l DiffLine) sign() string { return string(rune(l.Op)) }

func (l DiffLine) class() string {
	switch l.Op {
	case '+':
		return "bg-ok/10"
	case '-':
		return "bg-bad/10"
	case '\\':
		return "text-muted-foreground italic"
	}
	return ""
}

// context says whether the file's unchanged lines can be folded.
func (f DiffFile) context() bool {
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			if l.Op == ' ' {
				return true
			}
		}
	}
	return false
}

func (f DiffFile) anchor() string { return diffAnchor(f.Path) }

// diffAnchor is a file's place on its page. That of a long path is named by a
// hash: it stands there again and again.
func diffAnchor(path string) string {
	const most = 200
	if len(path) <= most {
		return "file-" + url.PathEscape(path)
	}
	sum := sha256.Sum256([]byte(path))
	return "file-" + hex.EncodeToString(sum[:8])
}

// nameIn is the file's name; of a very long one only the beginning and the end
// where other files stand beside it.
func (f DiffFile) nameIn(name string) string {
	const begin, end = 160, 240
	if f.Alone || len(name) <= begin+end {
		return name
	}
	return strings.ToValidUTF8(name[:begin], "") + " … " + strings.ToValidUTF8(name[len(name)-end:], "")
}

func (f DiffFile) letter() string { return statusLetter(f.Status) }

// statusLetter is git's letter of a change.
func statusLetter(status string) string {
	switch status {
	case "added":
		return "A"
	case "deleted":
		return "D"
	case "renamed":
		return "R"
	case "type_changed":
		return "T"
	}
	return "M"
}

func (f DiffFile) counts() string {
	if f.Binary {
		return "binary"
	}
	return "+" + strconv.Itoa(f.Added) + " −" + strconv.Itoa(f.Deleted)
}

// DiffPage is the difference on a page of its own.
type DiffPage struct {
	PageMeta
	Plan, PlanID string
	Title        string
	File         string
	Card         DiffCard
}
