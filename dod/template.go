package dod

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// RenderTemplate puts args into template's {placeholders}, in one pass over the
// text: a value is never expanded again, a placeholder without an argument stays
// as it is, an empty value is a value. The rule is the same everywhere, inside
// code too, so with an argument HOME the text "${HOME}" becomes "$" and its value.
// The result is for reading; a plan parses first and fills afterwards (FillCriteria).
func RenderTemplate(template string, args map[string]string) string {
	return render(template, func(name string) (string, bool) {
		value, ok := args[name]
		return value, ok
	})
}

// Placeholders returns the names of template's {placeholders}, sorted, each once.
func Placeholders(template string) []string {
	seen := map[string]bool{}
	render(template, func(name string) (string, bool) {
		seen[name] = true
		return "", false
	})
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// ValidArgName reports whether name can stand in braces: a letter or "_", then
// letters, digits, "_", "-" and ".".
func ValidArgName(name string) bool {
	return name != "" && placeholderName("{"+name+"}") == name
}

// ArgEnv gives the arguments to run: commands as ARG_NAME=value, sorted. Letters
// become capitals and every other sign than A-Z and 0-9 becomes "_"; of two names
// that then coincide the first in sorted order is kept. A NUL, which no
// environment can carry, is left out.
func ArgEnv(args map[string]string) []string {
	names := make([]string, 0, len(args))
	for name := range args {
		names = append(names, name)
	}
	sort.Strings(names)
	env := make([]string, 0, len(names))
	taken := map[string]bool{}
	for _, name := range names {
		key := argEnvName(name)
		if taken[key] {
			continue
		}
		taken[key] = true
		env = append(env, key+"="+strings.ReplaceAll(args[name], "\x00", ""))
	}
	return env
}

func argEnvName(name string) string {
	return "ARG_" + strings.Map(func(r rune) rune {
		r = unicode.ToUpper(r)
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
}

// render copies text and asks value for each placeholder; without one the
// placeholder is copied as it stands.
func render(text string, value func(name string) (string, bool)) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(text, '{')
		if open < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:open])
		text = text[open:]
		name := placeholderName(text)
		if name == "" {
			b.WriteByte('{')
			text = text[1:]
			continue
		}
		size := len(name) + 2
		if v, ok := value(name); ok {
			b.WriteString(v)
		} else {
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
}

// placeholderName returns the name if text begins with "{name}", else "".
func placeholderName(text string) string {
	for i := 1; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '}':
			return text[1:i]
		case r == '_' || unicode.IsLetter(r):
		case i > 1 && (r == '-' || r == '.' || unicode.IsDigit(r) || unicode.IsMark(r)):
		default:
			return ""
		}
		i += size
	}
	return ""
}
