package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// FileChange is one changed file of a Diff. Paths are slash paths from the top, as raw bytes of the
// file's name (never quoted).
type FileChange struct {
	Status  string `json:"status"` // added, modified, deleted, renamed, type_changed
	Path    string `json:"path"`
	OldPath string `json:"old_path,omitempty"` // only where renamed
	Added   int    `json:"added"`              // lines; 0 for binary files
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary,omitempty"`
}

// Diff is the list of changed files between two trees, in git's order, with the sums of lines.
type Diff struct {
	Files   []FileChange `json:"files"`
	Added   int          `json:"added"`
	Deleted int          `json:"deleted"`
}

var statusNames = map[byte]string{'A': "added", 'M': "modified", 'D': "deleted", 'R': "renamed", 'T': "type_changed"}

// diffTree is `git diff-tree` between two commits or trees of M. M has no attributes, so that no diff
// driver and no text conversion of the repository's is used.
func (m *Manager) diffTree(repo Repo, from, to string, flags ...string) call {
	args := []string{"-c", "diff.renameLimit=2000", "diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--ignore-submodules=none"}
	args = append(args, flags...)
	return m.inM(repo, append(args, from, to, "--")...)
}

func checkOIDs(oids ...string) error {
	var err error
	for _, o := range oids {
		err = errors.Join(err, checkOID(o))
	}
	return err
}

// Diff compares two commits or trees of M (full object names). Renames are found.
func (m *Manager) Diff(ctx context.Context, repo Repo, from, to string) (Diff, error) {
	if err := checkOIDs(from, to); err != nil {
		return Diff{}, err
	}
	return remembered(m, repo, "diff", []string{from, to}, func() (Diff, error) {
		out, _, err := m.git(ctx, m.diffTree(repo, from, to, "-z", "--raw", "--numstat"))
		if err != nil {
			return Diff{}, fmt.Errorf("compare: %w", err)
		}
		return parseDiff(out)
	})
}

// parseDiff reads `--raw --numstat -z`: first all raw entries (":modes ids status NUL path NUL", two
// paths where renamed), then the counts ("added TAB deleted TAB path NUL", for a rename an empty path
// and two more fields).
func parseDiff(out string) (Diff, error) {
	d := Diff{Files: []FileChange{}}
	where := map[string]int{} // new path -> place in Files
	fields := split0(out)
	next := func() (string, error) {
		if len(fields) == 0 {
			return "", fmt.Errorf("git's list of changed files ends in the middle")
		}
		f := fields[0]
		fields = fields[1:]
		return f, nil
	}
	for len(fields) > 0 {
		head, _ := next()
		if strings.HasPrefix(head, ":") && !strings.Contains(head, "\t") {
			f := FileChange{Status: "modified"}
			code := head[strings.LastIndexByte(head, ' ')+1:]
			if code != "" && statusNames[code[0]] != "" {
				f.Status = statusNames[code[0]]
			}
			var err error
			if f.Status == "renamed" {
				if f.OldPath, err = next(); err != nil {
					return d, err
				}
			}
			if f.Path, err = next(); err != nil {
				return d, err
			}
			where[f.Path] = len(d.Files)
			d.Files = append(d.Files, f)
			continue
		}
		parts := strings.SplitN(head, "\t", 3)
		if len(parts) != 3 {
			return d, fmt.Errorf("git counted lines as %q", head)
		}
		path := parts[2]
		if path == "" {
			if _, err := next(); err != nil {
				return d, err
			}
			var err error
			if path, err = next(); err != nil {
				return d, err
			}
		}
		i, ok := where[path]
		if !ok {
			return d, fmt.Errorf("git counted lines of %q, which it did not list", path)
		}
		f := &d.Files[i]
		if parts[0] == "-" {
			f.Binary = true
			continue
		}
		f.Added, _ = strconv.Atoi(parts[0])
		f.Deleted, _ = strconv.Atoi(parts[1])
		d.Added += f.Added
		d.Deleted += f.Deleted
	}
	return d, nil
}

// Patch is the same as a text patch, renames found, no external diff and no textconv. At most
// maxBytes of it (0: all), cut after a whole line; cut tells that something is missing.
func (m *Manager) Patch(ctx context.Context, repo Repo, from, to string, maxBytes int64) (patch []byte, cut bool, err error) {
	if err := checkOIDs(from, to); err != nil {
		return nil, false, err
	}
	p, err := remembered(m, repo, "patch", []string{from, to, strconv.FormatInt(maxBytes, 10)}, func() (p patchText, err error) {
		err = m.stream(ctx, m.diffTree(repo, from, to, "-p", "--src-prefix=a/", "--dst-prefix=b/"), func(r io.Reader) error {
			if maxBytes > 0 {
				r = io.LimitReader(r, maxBytes+1)
			}
			var err error
			p.text, err = io.ReadAll(r)
			return err
		})
		if maxBytes > 0 && int64(len(p.text)) > maxBytes {
			p.text, p.cut = p.text[:maxBytes], true
			p.text = p.text[:bytes.LastIndexByte(p.text, '\n')+1]
		}
		return p, err
	})
	return p.text, p.cut, err
}

type patchText struct {
	text []byte
	cut  bool
}

func (p patchText) size() int { return len(p.text) }

// AddedLines returns the lines that `to` has and `from` has not, without the plus signs, one per
// line; at most max bytes (0: all), cut after a whole line. Files that git takes for binary are
// read as text too: one NUL byte must not hide what a file holds.
func (m *Manager) AddedLines(ctx context.Context, repo Repo, from, to string, max int64) (text string, cut bool, err error) {
	if err := checkOIDs(from, to); err != nil {
		return "", false, err
	}
	var b strings.Builder
	err = m.stream(ctx, m.diffTree(repo, from, to, "-p", "-U0", "--text"), func(r io.Reader) error {
		lines := bufio.NewReaderSize(r, 64<<10)
		left := 0 // lines of the current hunk still to come: a line that looks like a header may be content
		for {
			peek, err := lines.Peek(1)
			if err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			start := peek[0] // peek itself is overwritten by the next read
			keep := left > 0 && start == '+'
			room := int64(-1)
			if max > 0 {
				room = max - int64(b.Len())
			}
			line, tooLong, err := readLine(lines, keep, room)
			if err != nil {
				return err
			}
			switch {
			case tooLong:
				cut = true
				return nil
			case left == 0:
				left = hunkLines(line)
			case start == '+':
				b.WriteString(line[1:])
				b.WriteByte('\n')
				left--
			case start == '-':
				left--
			}
		}
	})
	return b.String(), cut, err
}

// readLine reads a line without its end. Where keep is set and room is not negative, a line that does
// not fit into room (its plus sign not counted, its line end counted) is given up; where keep is not
// set, only the beginning is returned, enough for a header.
func readLine(r *bufio.Reader, keep bool, room int64) (line string, tooLong bool, err error) {
	const header = 4096
	var b []byte
	for {
		part, more := r.ReadSlice('\n')
		if keep || len(b) < header {
			b = append(b, part...)
		}
		if keep && room >= 0 && int64(len(bytes.TrimSuffix(b, []byte("\n")))) > room {
			return "", true, nil
		}
		if errors.Is(more, bufio.ErrBufferFull) {
			continue
		}
		if more != nil && more != io.EOF {
			return "", false, more
		}
		return string(bytes.TrimSuffix(b, []byte("\n"))), false, nil
	}
}

// hunkLines is how many lines follow a hunk header "@@ -a,b +c,d @@"; 0 for any other line.
func hunkLines(line string) int {
	f := strings.Fields(line)
	if len(f) < 4 || f[0] != "@@" {
		return 0
	}
	n := 0
	for _, part := range f[1:3] {
		_, count, ok := strings.Cut(part, ",")
		c := 1
		if ok {
			c, _ = strconv.Atoi(count)
		}
		n += c
	}
	return n
}
