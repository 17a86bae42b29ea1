package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"donewhen/dod"
)

// streams are a command's standard input and outputs.
type streams struct {
	In       io.Reader
	Out, Err io.Writer
}

func osStreams() streams { return streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr} }

// readInput reads the named file, or standard input for "-".
func readInput(s streams, name string) (string, error) {
	if name == "-" {
		data, err := io.ReadAll(s.In)
		if err != nil {
			return "", fmt.Errorf("read standard input: %w", err)
		}
		return string(data), nil
	}
	data, err := os.ReadFile(name)
	return string(data), err
}

// parseArgs reads NAME=VALUE pairs. A name is what can stand in braces; a value
// may be empty and may hold "=".
func parseArgs(pairs []string) (map[string]string, error) {
	args := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		name, value, found := strings.Cut(pair, "=")
		switch {
		case !found:
			return nil, fmt.Errorf("--arg %q: write NAME=VALUE", pair)
		case !dod.ValidArgName(name):
			return nil, fmt.Errorf("--arg %q: a name begins with a letter or _ and goes on with letters, digits, _, - or a dot", pair)
		}
		if _, twice := args[name]; twice {
			return nil, fmt.Errorf("--arg %s is given twice", name)
		}
		args[name] = value
	}
	return args, nil
}

// printJSON writes v as JSON for people and programs: signs such as < stay as they are.
func printJSON(w io.Writer, v any, indent string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
