package workspace

import (
	"bytes"
	"strings"
)

// readHead is the object that a git folder's HEAD points to, read as files are; why says what is in the
// way, in a few words.
func readHead(git string) (oid, why string) {
	t := &tips{git: git}
	at := "HEAD"
	for range 5 { // as far as git follows
		text, there := "", false
		t.file(at, func(_ string, b []byte) { text, there = strings.TrimSpace(string(b)), true })
		if len(t.odd) > 0 {
			return "", t.odd[0].Path + " is no plain file that the server may read"
		}
		if !there {
			if text = t.packedRef(at); text == "" {
				return "", at + " has no commit yet"
			}
		}
		if oidPattern.MatchString(text) {
			return text, ""
		}
		name, symbolic := strings.CutPrefix(text, "ref:")
		if at = strings.TrimSpace(name); !symbolic || !strings.HasPrefix(at, "refs/") || strings.Contains("/"+at+"/", "/../") || strings.ContainsRune(at, 0) {
			return "", "HEAD names no commit"
		}
	}
	return "", "HEAD leads from one name to another without end"
}

// packedRef is the object that packed-refs has for a name, "" for none.
func (t *tips) packedRef(name string) (oid string) {
	t.file("packed-refs", func(_ string, text []byte) {
		for l := range bytes.Lines(text) {
			if at, ref, _ := strings.Cut(strings.TrimSpace(string(l)), " "); ref == name {
				oid = at
			}
		}
	})
	return oid
}
