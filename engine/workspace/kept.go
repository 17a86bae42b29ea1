package workspace

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// keeping puts files of W that are about to be overwritten or deleted, and that no snapshot has,
// into one folder of KeptDir. That folder is only made when there is something to put in. Nothing in
// there is ever deleted; it stays small because a file is kept once for each of its contents.
type keeping struct {
	w, root, folder string
}

func (m *Manager) newKeeping(repo Repo, planID string) *keeping {
	root := m.KeptDir(repo, planID)
	return &keeping{w: m.workDir(repo, planID), root: root, folder: filepath.Join(root, time.Now().UTC().Format("20060102T150405.000000000"))}
}

func (k *keeping) place(path string) (from, to string, err error) {
	from, to = filepath.Join(k.w, filepath.FromSlash(path)), filepath.Join(k.folder, filepath.FromSlash(path))
	return from, to, os.MkdirAll(filepath.Dir(to), 0o755)
}

// move takes a file or folder out of W.
func (k *keeping) move(path string) error {
	from, to, err := k.place(path)
	if err != nil {
		return err
	}
	if isDir(to) && isDir(from) { // a part of the folder was moved before
		inside, err := os.ReadDir(from)
		for _, e := range inside {
			err = errors.Join(err, k.move(path+"/"+e.Name()))
		}
		return err
	}
	if err = os.Rename(from, to); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// link keeps a file or link that git is about to replace in W. It is the same file, not a copy: what
// a program writes into it until then, or through a handle that it still has, is kept as well.
func (k *keeping) link(path string) error {
	from, to, err := k.place(path)
	if err != nil {
		return err
	}
	if err = os.Link(from, to); err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return copyPlain(from, to) // a file system without hard links, or a file of another user
}

func copyPlain(from, to string) error {
	fi, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fi.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// standsAt is what is in W where path is to be written: path itself, or the file or link that stands
// where one of its folders must be; nil for nothing.
func (k *keeping) standsAt(path string) (at string, fi fs.FileInfo) {
	parts := strings.Split(path, "/")
	for i := range parts {
		at = strings.Join(parts[:i+1], "/")
		fi, err := os.Lstat(filepath.Join(k.w, filepath.FromSlash(at)))
		if err != nil {
			return "", nil
		}
		if !fi.IsDir() || i == len(parts)-1 {
			return at, fi
		}
	}
	return "", nil
}

// beforeWriting keeps what git will overwrite or remove when it writes path into W.
func (k *keeping) beforeWriting(path string) error {
	switch at, fi := k.standsAt(path); {
	case fi == nil:
		return nil
	case fi.IsDir() || at != path && (fi.Mode().IsRegular() || fi.Mode()&fs.ModeSymlink != 0):
		return k.move(at)
	case fi.Mode().IsRegular() || fi.Mode()&fs.ModeSymlink != 0:
		return k.link(at)
	}
	return nil // a pipe or a socket: nothing is in it
}

// done drops what need not be kept (contents that W has at the same place, or that were kept before)
// and returns what is left, as slash paths in the folder.
func (k *keeping) done() (files []string, err error) {
	earlier, err := os.ReadDir(k.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var folders []string
	err = filepath.WalkDir(k.folder, func(path string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(path, k.folder+"/")
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case errors.Is(err, fs.ErrPermission): // a closed folder is kept as it is
			files = append(files, rel)
			return fs.SkipDir
		case err != nil:
			return err
		case d.IsDir():
			folders = append(folders, path)
			return nil
		}
		others := []string{filepath.Join(k.w, rel)}
		for _, e := range earlier {
			if other := filepath.Join(k.root, e.Name()); other != k.folder {
				others = append(others, filepath.Join(other, rel))
			}
		}
		if slices.ContainsFunc(others, func(other string) bool { return sameContents(path, other) }) {
			return os.Remove(path)
		}
		files = append(files, rel)
		return nil
	})
	for _, f := range slices.Backward(folders) {
		_ = os.Remove(f) // those that are empty
	}
	return files, err
}

// sameContents reports whether two files or links hold the same; false where that cannot be told.
func sameContents(a, b string) bool {
	fa, errA := os.Lstat(a)
	fb, errB := os.Lstat(b)
	if errA != nil || errB != nil || fa.Mode().Type() != fb.Mode().Type() || fa.Size() != fb.Size() {
		return false
	}
	switch {
	case fa.Mode()&fs.ModeSymlink != 0:
		ta, errA := os.Readlink(a)
		tb, errB := os.Readlink(b)
		return errA == nil && errB == nil && ta == tb
	case !fa.Mode().IsRegular() || os.SameFile(fa, fb):
		return false // one file under two names is no second copy
	}
	in, err := os.Open(a)
	if err != nil {
		return false
	}
	defer in.Close()
	other, err := os.Open(b)
	if err != nil {
		return false
	}
	defer other.Close()
	const piece = 64 << 10
	x, y := make([]byte, piece), make([]byte, piece)
	for {
		n, errA := io.ReadFull(in, x)
		m, errB := io.ReadFull(other, y)
		if !bytes.Equal(x[:n], y[:m]) {
			return false
		}
		if errA != nil || errB != nil {
			return atEnd(errA) && atEnd(errB)
		}
	}
}

func atEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
