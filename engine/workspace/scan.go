package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// whyUnreadableDir is the reason for a folder whose files the server cannot see.
const whyUnreadableDir = "the server may not read this folder"

// scan is what a walk over W found before git is let near it. Paths are slash paths from W's top.
type scan struct {
	unreadable []string // folders that cannot be read or entered
	blockers   []string // .gitignore or .gitattributes that would hang git: pipes and devices
	special    []string // other pipes, sockets and devices: git does not even list those it does not track
}

// scanWorkDir walks W without following links and without entering .git folders. It is needed because
// git says nothing reliable about folders it cannot read (their files just vanish), and hangs for
// ever on a named pipe called .gitignore.
func scanWorkDir(w string) (scan, error) {
	var s scan
	err := filepath.WalkDir(w, func(path string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(path, w), "/")
		switch {
		case err != nil && errors.Is(err, fs.ErrNotExist):
			return nil // it went away meanwhile
		case err != nil && rel == "":
			return err
		case err != nil:
			s.addUnreadable(rel)
			return fs.SkipDir
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			if unix.Access(path, unix.R_OK|unix.X_OK) != nil && rel != "" {
				s.addUnreadable(rel)
				return fs.SkipDir
			}
		case (d.Name() == ".gitignore" || d.Name() == ".gitattributes") && d.Type()&(fs.ModeNamedPipe|fs.ModeDevice|fs.ModeCharDevice) != 0:
			s.blockers = append(s.blockers, rel)
		case !d.Type().IsRegular() && d.Type()&fs.ModeSymlink == 0:
			s.special = append(s.special, rel)
		}
		return nil
	})
	return s, err
}

func (s *scan) addUnreadable(rel string) {
	if n := len(s.unreadable); n == 0 || s.unreadable[n-1] != rel {
		s.unreadable = append(s.unreadable, rel)
	}
}

// setAside renames a blocker, which has no contents to lose, so that git can be run. It returns the
// new name.
func setAside(w, rel string) (string, error) {
	for i := 0; ; i++ {
		to := rel + ".not-a-file"
		if i > 0 {
			to += "-" + strconv.Itoa(i)
		}
		if !lexists(filepath.Join(w, to)) {
			return to, os.Rename(filepath.Join(w, rel), filepath.Join(w, to))
		}
	}
}

// unfit says why a path in W cannot be recorded, empty if it can. A path that is gone is fit: its
// deletion is recorded.
func unfit(path string, maxBytes int64) string {
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR):
		return ""
	case err != nil:
		return "the server may not look at it"
	case fi.Mode()&fs.ModeSymlink != 0:
		return ""
	case fi.IsDir():
		return "" // a file became a folder: its files are looked at one by one
	case !fi.Mode().IsRegular():
		return "not a plain file (" + kindOf(fi.Mode()) + ")"
	case fi.Size() > maxBytes:
		return "too large (" + megabytes(fi.Size()) + ", the limit is " + megabytes(maxBytes) + ")"
	}
	// Not blocking, should it become a pipe just now.
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "the server may not read it"
	}
	_ = unix.Close(fd)
	return ""
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "special"
}

func megabytes(n int64) string {
	if n < 1<<20 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}
