package handlers

import (
	"os"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"donewhen/engine"
)

// What a file is, as its mode in git says.
const (
	kindFile       = "file"
	kindExecutable = "executable file"
	kindLink       = "symbolic link"
	kindModule     = "submodule"
)

// kindOf reads a mode of git's, which os.FileMode holds bit by bit.
func kindOf(mode os.FileMode) string {
	switch m := uint32(mode); {
	case m == 0:
		return ""
	case m&0o170000 == 0o120000:
		return kindLink
	case m&0o170000 == 0o160000:
		return kindModule
	case m&0o111 != 0:
		return kindExecutable
	}
	return kindFile
}

// becomes says what a file is now where it is no ordinary one, or was something
// else before, and where a symbolic link leads; "" for an ordinary file. The lines
// alone do not tell: those of a link are its target's name.
func becomes(f engine.ChangedFile, p patchedFile) (text, target string) {
	if p.now == nil {
		return "", ""
	}
	was, is := kindOf(p.now.OldMode), kindOf(p.now.NewMode)
	if p.before != nil {
		was = kindOf(p.before.OldMode)
	}
	switch {
	case p.now.IsDelete:
		is = ""
	case p.now.IsNew && p.before == nil:
		was = ""
	case is == "":
		is = was // git names a mode once where it stays
	}
	if is == kindLink {
		if target = linkTarget(p.now); target != "" {
			target, _ = cutText(target, 400)
		}
	}
	to := func(text, word string) string {
		if target == "" {
			return text
		}
		return text + word
	}
	switch {
	case is == was && is == kindLink:
		return to("symbolic link", ", now to"), target
	case is == was && is == kindModule:
		return "submodule", ""
	case is == was:
		return "", ""
	case is == "" && (was == kindLink || was == kindModule):
		return "was a " + was, ""
	case is == "":
		return "", ""
	case was == "" && is == kindLink:
		return to(is, " to"), target
	case was == "" && is == kindExecutable:
		return "executable", ""
	case was == "" && is == kindFile:
		return "", ""
	case was == "":
		return is, ""
	case is == kindLink:
		return to("became a symbolic link", " to"), target
	case was == kindFile && is == kindExecutable:
		return "became executable", ""
	case was == kindExecutable && is == kindFile:
		return "is not executable any more", ""
	case is == kindModule:
		return "became a submodule", ""
	}
	return "was a " + was + ", became " + map[string]string{kindFile: "a file", kindExecutable: "an executable file"}[is], ""
}

// linkTarget is where a link leads; "" when the patch does not hold all of it.
func linkTarget(p *gitdiff.File) string {
	if len(p.TextFragments) != 1 || !p.IsNew && p.TextFragments[0].NewLines != 1 {
		return ""
	}
	var b strings.Builder
	for _, l := range p.TextFragments[0].Lines {
		if l.Op != gitdiff.OpDelete {
			b.WriteString(l.Line)
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// patchedFile is a file in a patch. A file of which another kind of thing became
// is there twice, removed and added.
type patchedFile struct{ before, now *gitdiff.File }

// whole says whether the patch holds what the list says was changed; a cut patch
// may end behind a file's head.
func (p patchedFile) whole(f engine.ChangedFile) bool {
	switch {
	case p.now == nil || f.Status == "type_changed" && p.before == nil:
		return false
	case f.Binary || f.Added+f.Deleted == 0:
		return true
	}
	return len(p.fragments()) > 0
}

// fragments are its changed lines, the removed ones first where it was replaced.
func (p patchedFile) fragments() []*gitdiff.TextFragment {
	var out []*gitdiff.TextFragment
	for _, half := range []*gitdiff.File{p.before, p.now} {
		if half != nil {
			out = append(out, half.TextFragments...)
		}
	}
	return out
}
