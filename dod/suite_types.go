package dod

import "context"

// CheckOutcome is what a run:, file: or human check came to.
type CheckOutcome struct {
	Status    Status
	Reasoning string
}

// Suite is the evaluator of a whole definition of done or done_when: each
// criterion goes to the part that can check it. A part that is missing (a nil
// function or asker) makes its criteria skipped, with the reason.
type Suite struct {
	// Text matches plain lines, match: and absent:.
	Text TextMatch
	// Run carries out a run: command in the workspace, File looks a path up there.
	Run func(ctx context.Context, command string) CheckOutcome
	// Args are the values that run: commands get. A command that reads one which a
	// {placeholder} of its line still waits for is not carried out: it would check
	// less than it reads.
	Args map[string]string
	File func(ctx context.Context, path string) CheckOutcome
	// Human looks up what a person decided.
	Human func(Criterion) CheckOutcome
	// Asker answers judge: criteria, and plain lines too with PlainToAsker.
	Asker Asker
	// Others give further opinions on what Asker called met; the same asker may
	// stand there again.
	Others       []Asker
	PlainToAsker bool
	// StopOnFailed: when a deterministic check that counts fails, nobody is asked and
	// the judged criteria are skipped. This is the rule of a done_when.
	StopOnFailed bool
	// Parallel is how many questions are asked at once; below 1 means 1.
	Parallel int
	// Watch, where it is set, is told when a check or a question about a criterion
	// begins, and calls what it returned when that ends. Questions are asked at once.
	Watch func(Criterion) (ended func())
	// Task and Evidence go into the questions, as bounded by the caller.
	Task     string
	Evidence string
	// Nonce makes the fences' random word; nil means NewNonce.
	Nonce func() string
}

// Outcome is what a Suite found: one result per criterion in the given order, and
// one answer per question asked, in the same order; several judges' answers about a
// criterion stand together, in the order in which they were asked.
type Outcome struct {
	Results []Result `json:"results"`
	Answers []Answer `json:"answers,omitempty"`
}
