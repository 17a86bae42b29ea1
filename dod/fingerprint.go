package dod

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// Fingerprint names what an evaluation, an approval or a waiver was about: the
// workspace's tree id, the filled criteria, the template's version, the
// evaluator's configuration and the arguments (as ArgEnv gives them), which reach
// run: checks beside the criteria's text. Two different inputs never share an encoding,
// because every part carries its length. The result is SHA-256 in hex.
func Fingerprint(tree string, criteria []Criterion, templateVersion, evaluator string, args ...string) string {
	h := sha256.New()
	write := func(part string) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	write("donewhen fingerprint 2")
	write(tree)
	write(templateVersion)
	write(evaluator)
	write(strconv.Itoa(len(criteria)))
	for _, c := range criteria {
		write(strconv.Itoa(c.Index))
		write(c.Text)
		write(c.Pattern)
		write(string(c.Level))
		write(string(c.Check.Kind))
		write(c.Check.Arg)
	}
	for _, a := range args {
		write(a)
	}
	return hex.EncodeToString(h.Sum(nil))
}
