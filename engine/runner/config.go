package runner

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

//go:embed defaults.yaml
var defaultsYAML []byte

//go:embed presets.yaml
var presetsYAML []byte

// runtimeSpec is one entry of runtimes.yaml with its preset filled in.
type runtimeSpec struct {
	Alias string `yaml:"-"`
	Line  int    `yaml:"-"`

	Preset string `yaml:"preset"`
	Title  string `yaml:"title"`
	// Shell: phases carry a command; there are no args.
	Shell bool `yaml:"shell"`
	// Args is the argument vector, program first. {task}, {task_file} and {model}
	// are put in, each once, never expanded again.
	Args []string `yaml:"args"`
	// Task is how the task text gets to the program: stdin (default), file or arg.
	Task string `yaml:"task"`
	// Output is the format of its stdout: text (default) or one of outputFormats.
	Output   string   `yaml:"output"`
	Limit    duration `yaml:"limit"`
	MaxLimit duration `yaml:"max_limit"`
	// Env names variables of the server's environment that it may have.
	Env []string `yaml:"env"`
	// Set are fixed variables.
	Set map[string]string `yaml:"set"`
	// Model is put in for {model} in ModelArgs, which are then appended.
	Model     string   `yaml:"model"`
	ModelArgs []string `yaml:"model_args"`

	// JudgeArgs is the argument vector of runtime:<alias> as a judge: no tools, no
	// project instructions. {system} and {model} are put in; the question comes on
	// stdin, preceded by the system text when {system} is not used.
	JudgeArgs   []string `yaml:"judge_args"`
	JudgeOutput string   `yaml:"judge_output"`
	JudgeLimit  duration `yaml:"judge_limit"`
	JudgeModel  string   `yaml:"judge_model"`
	// JudgeSet are fixed variables of the judge alone; they win over Set.
	JudgeSet map[string]string `yaml:"judge_set"`
}

// checkSpec is the `checks:` part: what `run:` checks get.
type checkSpec struct {
	Env   []string          `yaml:"env"`
	Set   map[string]string `yaml:"set"`
	Limit duration          `yaml:"limit"`
}

// configFile is runtimes.yaml.
type configFile struct {
	// Env names variables that every runtime, judge and check may have.
	Env      []string  `yaml:"env"`
	Checks   checkSpec `yaml:"checks"`
	Runtimes yaml.Node `yaml:"runtimes"`
}

// duration is written like "90s", "15m", "2h".
type duration time.Duration

func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v <= 0 {
		return fmt.Errorf("line %d: %q is no time limit; write it like 90s, 15m or 2h", n.Line, n.Value)
	}
	*d = duration(v)
	return nil
}

// Limits of a run where runtimes.yaml says nothing.
const (
	defaultLimit      = 30 * time.Minute
	defaultMaxLimit   = 4 * time.Hour
	defaultJudgeLimit = 2 * time.Minute
	defaultCheckLimit = 10 * time.Minute
)

var aliasForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// envForm is a name that an allow-list may hold.
var envForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func nameOf(path string) string {
	if path == "" {
		return "the built-in runtimes.yaml"
	}
	return path
}

// readConfig reads and checks runtimes.yaml; path "" is the embedded default.
func readConfig(path string) ([]*runtimeSpec, checkSpec, error) {
	data, dir := defaultsYAML, ""
	if path != "" {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			return nil, checkSpec{}, fmt.Errorf("read the runtimes file: %w", err)
		}
		if dir, err = filepath.Abs(filepath.Dir(path)); err != nil {
			return nil, checkSpec{}, err
		}
	}
	specs, checks, err := parseConfig(data, dir)
	if err != nil {
		return nil, checkSpec{}, fmt.Errorf("%s: %w", nameOf(path), err)
	}
	return specs, checks, nil
}

// parseConfig reads the file's text. A program written with a slash that is not
// absolute is taken from dir, the file's folder.
func parseConfig(data []byte, dir string) ([]*runtimeSpec, checkSpec, error) {
	var file configFile
	if err := decodeStrict(data, &file); err != nil {
		return nil, checkSpec{}, err
	}
	presets, err := presets()
	if err != nil {
		return nil, checkSpec{}, err
	}
	if err := checkEnv(file.Env, nil, "env"); err != nil {
		return nil, checkSpec{}, err
	}
	if err := checkEnv(file.Checks.Env, file.Checks.Set, "checks"); err != nil {
		return nil, checkSpec{}, err
	}
	entries, err := eachEntry(file.Runtimes)
	if err != nil {
		return nil, checkSpec{}, err
	}
	if len(entries) == 0 {
		return nil, checkSpec{}, errors.New(`it declares no runtime; begin with "runtimes:" and an entry such as "shell: {preset: shell}"`)
	}
	var out []*runtimeSpec
	for _, e := range entries {
		spec, err := readEntry(e, presets)
		if err != nil {
			return nil, checkSpec{}, err
		}
		spec.Env = append(slices.Clone(file.Env), spec.Env...)
		spec.Args = atDir(spec.Args, dir)
		spec.JudgeArgs = atDir(spec.JudgeArgs, dir)
		out = append(out, spec)
	}
	checks := file.Checks
	checks.Env = append(slices.Clone(file.Env), checks.Env...)
	if checks.Limit == 0 {
		checks.Limit = duration(defaultCheckLimit)
	}
	return out, checks, nil
}

// entry is one alias of a runtimes mapping, not yet read.
type entry struct {
	alias string
	line  int
	node  *yaml.Node
}

func eachEntry(n yaml.Node) ([]entry, error) {
	if n.Kind == 0 {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: runtimes must be a mapping from alias to settings", n.Line)
	}
	var out []entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if slices.ContainsFunc(out, func(e entry) bool { return e.alias == key.Value }) {
			return nil, fmt.Errorf("line %d: the alias %q is there twice", key.Line, key.Value)
		}
		out = append(out, entry{alias: key.Value, line: key.Line, node: n.Content[i+1]})
	}
	return out, nil
}

func presets() (map[string]entry, error) {
	var file configFile
	if err := decodeStrict(presetsYAML, &file); err != nil {
		return nil, fmt.Errorf("the built-in presets: %w", err)
	}
	entries, err := eachEntry(file.Runtimes)
	if err != nil {
		return nil, fmt.Errorf("the built-in presets: %w", err)
	}
	out := map[string]entry{}
	for _, e := range entries {
		out[e.alias] = e
	}
	return out, nil
}

// readEntry fills an entry: its preset first, then what is written in it.
func readEntry(e entry, presets map[string]entry) (*runtimeSpec, error) {
	at := fmt.Sprintf("line %d: runtime %q", e.line, e.alias)
	if !aliasForm.MatchString(e.alias) {
		return nil, fmt.Errorf("%s: an alias has small letters, digits, - and _, at most 40", at)
	}
	var own runtimeSpec
	if err := decodeNode(e.node, &own); err != nil {
		return nil, err
	}
	spec := &runtimeSpec{}
	if own.Preset != "" {
		p, found := presets[own.Preset]
		if !found {
			return nil, fmt.Errorf("%s: there is no preset %q; there are %s", at, own.Preset, list(slices.Sorted(maps.Keys(presets))))
		}
		if err := decodeNode(p.node, spec); err != nil {
			return nil, fmt.Errorf("preset %q: %w", own.Preset, err)
		}
	}
	// Decoding over the preset replaces the fields that are written and keeps the
	// others; a map would be merged, which is what `set` wants.
	if err := decodeNode(e.node, spec); err != nil {
		return nil, err
	}
	spec.Alias, spec.Line = e.alias, e.line
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	spec.fill()
	return spec, nil
}

// check refuses what could not work, with a sentence about what to write.
func (s *runtimeSpec) check() error {
	switch {
	case s.Shell && (len(s.Args) > 0 || len(s.JudgeArgs) > 0):
		return errors.New("a shell runtime has no args and no judge_args: its phases carry the command")
	case !s.Shell && len(s.Args) == 0 && len(s.JudgeArgs) == 0:
		return errors.New(`it has neither preset nor args; write for example args: ["/path/to/program", "--flag"]`)
	}
	for _, args := range [][]string{s.Args, s.JudgeArgs} {
		if len(args) > 0 && strings.TrimSpace(args[0]) == "" {
			return errors.New("the first of args is the program and must not be empty")
		}
	}
	if !slices.Contains([]string{"", taskStdin, taskFile, taskArg}, s.Task) {
		return fmt.Errorf("task: %q is not known; write stdin, file or arg", s.Task)
	}
	for name, format := range map[string]string{"output": s.Output, "judge_output": s.JudgeOutput} {
		if _, known := outputFormats[format]; !known && format != "" {
			return fmt.Errorf("%s: %q is not known; write one of %s", name, format, list(slices.Sorted(maps.Keys(outputFormats))))
		}
	}
	all := strings.Join(s.Args, "\x00")
	if s.Task == taskArg && len(s.Args) > 0 && !strings.Contains(all, "{task}") {
		return errors.New("task: arg needs {task} as one of args")
	}
	if s.Task != taskArg && strings.Contains(all, "{task}") {
		return errors.New("args has {task}, but the task does not come as an argument; write task: arg, or take {task} out")
	}
	if strings.Contains(strings.Join(s.JudgeArgs, "\x00"), "{task}") {
		return errors.New("judge_args: a question comes on stdin, there is no {task}")
	}
	if s.MaxLimit != 0 && s.Limit > s.MaxLimit {
		return fmt.Errorf("limit %s is above max_limit %s", time.Duration(s.Limit), time.Duration(s.MaxLimit))
	}
	return errors.Join(checkEnv(s.Env, s.Set, "env"), checkEnv(nil, s.JudgeSet, "judge_set"))
}

// fill puts the defaults in.
func (s *runtimeSpec) fill() {
	if s.Title == "" {
		s.Title = s.Alias
	}
	if s.Task == "" {
		s.Task = taskStdin
	}
	if s.Output == "" {
		s.Output = outputText
	}
	if s.JudgeOutput == "" {
		s.JudgeOutput = outputText
	}
	if s.MaxLimit == 0 {
		s.MaxLimit = duration(max(defaultMaxLimit, time.Duration(s.Limit)))
	}
	if s.Limit == 0 {
		s.Limit = duration(min(defaultLimit, time.Duration(s.MaxLimit)))
	}
	if s.JudgeLimit == 0 {
		s.JudgeLimit = duration(defaultJudgeLimit)
	}
	if s.JudgeModel == "" {
		s.JudgeModel = s.Model
	}
}

// ours says that a variable is the server's own and never reaches a process by
// an allow-list.
func ours(name string) bool {
	switch name {
	case "DATABASE_URL", "SESSION_KEY", "SESSION_KEYS", "SESSION_SECRET":
		return true
	}
	return strings.HasPrefix(name, "DONEWHEN_")
}

func checkEnv(names []string, set map[string]string, where string) error {
	for _, name := range slices.Concat(names, slices.Sorted(maps.Keys(set))) {
		if !envForm.MatchString(name) {
			return fmt.Errorf("%s: %q is no name of an environment variable; values go under the setting named set", where, name)
		}
		if ours(name) {
			return fmt.Errorf("%s: %s is the server's own and is not passed on", where, name)
		}
	}
	return nil
}

// atDir makes a program that is written with a slash absolute.
func atDir(args []string, dir string) []string {
	if len(args) == 0 || dir == "" || filepath.IsAbs(args[0]) || !strings.ContainsRune(args[0], '/') {
		return args
	}
	return append([]string{filepath.Join(dir, args[0])}, args[1:]...)
}

// decodeStrict reads one YAML document and refuses names that are not known.
func decodeStrict(data []byte, into any) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return plainYAML(err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one YAML document; take the --- out")
	}
	return nil
}

// decodeNode is decodeStrict for a part of a document, with the lines of the
// whole: yaml.Node.Decode knows no strict mode, so names are checked here.
func decodeNode(n *yaml.Node, into *runtimeSpec) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a runtime is a mapping of settings, such as {preset: claude}", n.Line)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if !slices.Contains(specFields, key.Value) {
			return fmt.Errorf("line %d: unknown setting %q; there are %s", key.Line, key.Value, list(specFields))
		}
		if seen[key.Value] {
			return fmt.Errorf("line %d: %q is there twice", key.Line, key.Value)
		}
		seen[key.Value] = true
	}
	if err := n.Decode(into); err != nil {
		return plainYAML(err)
	}
	return nil
}

// specFields are the settings of a runtime as they are written.
var specFields = []string{"preset", "title", "shell", "args", "task", "output", "limit", "max_limit", "env", "set",
	"model", "model_args", "judge_args", "judge_output", "judge_limit", "judge_model", "judge_set"}

var unknownField = regexp.MustCompile(`line (\d+): field (\S+) not found in type \S+`)

// plainYAML takes Go's type names out of a YAML error.
func plainYAML(err error) error {
	s := strings.TrimPrefix(err.Error(), "yaml: ")
	s = strings.TrimPrefix(s, "unmarshal errors:\n  ")
	s = unknownField.ReplaceAllString(s, `line $1: unknown setting "$2"; there are env, checks and runtimes, and below checks env, set and limit`)
	return errors.New(s)
}

func list(names []string) string { return strings.Join(names, ", ") }
