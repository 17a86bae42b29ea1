package engine

import (
	"context"
	"fmt"

	"donewhen/models"
)

// SeedTemplates publishes the built-in templates that are not there yet, found
// by their names: a template that a team has changed is left alone.
func (e *Engine) SeedTemplates(ctx context.Context) error {
	publisher := models.Actor{Name: models.Server.Name, Role: models.RoleAdmin}
	for _, t := range builtinTemplates {
		found, err := e.Store.TemplateByName(ctx, t.Name)
		if err != nil {
			return err
		}
		if found != nil {
			continue
		}
		if _, err := e.PublishTemplate(ctx, publisher, t); err != nil {
			return fmt.Errorf("built-in template %s: %w", t.Name, err)
		}
	}
	return nil
}

// testScript is the argument that the built-in templates share. It is the path
// of a file, which a command reads from its environment: a value never becomes
// program text.
var testScript = models.TemplateArg{
	Name: "test_script", Required: true,
	Description: "A script in the repository that runs all tests, such as scripts/test.sh. Publish a version with your own command instead, such as: -> run: go test ./...",
}

// testsPass and noMarkers are lines that the built-in templates share. What must
// be absent is looked for by "grep; test $? -eq 1" and not by "! grep": a grep
// that cannot look ends with 2, and that is no proof of absence.
const (
	testsPass = `- All tests pass -> run: bash -- "$ARG_TEST_SCRIPT"`
	noMarkers = `- No conflict marker is left in a file -> run: grep -rnIE --exclude-dir=.git --exclude-dir=node_modules '^(<<<<<<<|>>>>>>>) ' .; test $? -eq 1`
)

// builtinTemplates are good beginnings, none of which needs a model: required
// lines are checks or a person's answer, questions to a judge are informational.
var builtinTemplates = []TemplateDraft{
	{
		Name: "Bug fix", Description: "A test that shows the bug comes with its repair.",
		Why: "Built in.",
		Args: []models.TemplateArg{
			{Name: "bug", Required: true, Description: "The bug in a few words or its number, such as #4711. The test names it."},
			{Name: "test_file", Required: true, Description: "The file with the test that shows the bug."},
			testScript,
		},
		Text: `# Bug fix: {bug}

## The bug is caught from now on
- There is a test for {bug} -> file: {test_file}
- The test names {bug}, so that one knows why it is there -> run: grep -qF -- "$ARG_BUG" "$ARG_TEST_FILE"

## Nothing else broke
` + testsPass + `
` + noMarkers + `
- (info) The change is no larger than the repair needs -> judge: Does the change hold anything that the repair of {bug} does not need?

## A person has looked
- {bug} does not happen any more -> human
`,
	},
	{
		Name: "Feature", Description: "Something new that users can see: tested, described, tried by a person.",
		Why: "Built in.",
		Args: []models.TemplateArg{
			{Name: "feature", Required: true, Description: "What users can do afterwards, in a few words."},
			{Name: "test_file", Required: true, Description: "The file with the tests of the feature."},
			{Name: "docs_file", Default: "README.md", Description: "Where it is described."},
			{Name: "keyword", Required: true, Description: "A word that the description must hold: an option, a command, a title."},
			testScript,
		},
		Text: `# Feature: {feature}

## It works
- Tests of the feature are in {test_file} -> file: {test_file}
` + testsPass + `
` + noMarkers + `

## It can be found
- {docs_file} speaks of {keyword} -> run: grep -qiF -- "$ARG_KEYWORD" "$ARG_DOCS_FILE"
- (info) The description can be followed by somebody new -> judge: Could somebody who does not know the project use "{feature}" by what the change describes?

## A person has tried it
- (must) {feature} -> human
`,
	},
	{
		Name: "Refactoring", Description: "The inside changes, the behaviour does not.",
		Why: "Built in.",
		Args: []models.TemplateArg{
			{Name: "old_name", Required: true, Description: "What must be gone afterwards: a function, a module, a word of code."},
			{Name: "folder", Default: ".", Description: "Where it must be gone."},
			testScript,
		},
		Text: `# Refactoring: {old_name} goes

- {old_name} is not in {folder} any more -> run: grep -rnIF --exclude-dir=.git -e "$ARG_OLD_NAME" -- "$ARG_FOLDER"; test $? -eq 1
` + testsPass + `
` + noMarkers + `
- (info) Behaviour is the same for users -> judge: Does the change alter anything that users or callers can notice?
- The code reads better than before -> human
`,
	},
	{
		Name: "Dependency update", Description: "A library is raised, and what it broke is mended.",
		Why: "Built in.",
		Args: []models.TemplateArg{
			{Name: "dependency", Required: true, Description: "The library's name as the lock file writes it."},
			{Name: "version", Required: true, Description: "The version it is raised to, as the lock file writes it."},
			{Name: "lock_file", Required: true, Description: "The lock file, such as go.mod, package-lock.json or requirements.txt."},
			{Name: "changelog", Default: "CHANGELOG.md", Description: "Where changes are noted."},
			testScript,
		},
		Text: `# {dependency} is raised to {version}

- {lock_file} names {dependency} -> run: grep -qF -- "$ARG_DEPENDENCY" "$ARG_LOCK_FILE"
- {lock_file} names the version {version} -> run: grep -qF -- "$ARG_VERSION" "$ARG_LOCK_FILE"
` + testsPass + `
` + noMarkers + `
- (info) {changelog} tells users -> run: grep -qF -- "$ARG_DEPENDENCY" "$ARG_CHANGELOG"
- The library's notes on breaking changes were read -> human
`,
	},
	{
		Name: "Documentation", Description: "A page is written or brought up to date.",
		Why: "Built in.",
		Args: []models.TemplateArg{
			{Name: "page", Required: true, Description: "The file of the page, such as docs/install.md."},
			{Name: "topic", Required: true, Description: "What it is about: the page must hold this word."},
		},
		Text: `# {page}: {topic}

- The page is there -> file: {page}
- It speaks of {topic} -> run: grep -qiF -- "$ARG_TOPIC" "$ARG_PAGE"
- Nothing in it is left open -> run: grep -nE 'TODO|TBD|FIXME|XXX|[Ll]orem ipsum' -- "$ARG_PAGE"; test $? -eq 1
` + noMarkers + `
- (info) Somebody new can follow it -> judge: Could somebody who does not know the project follow the page about {topic} without asking?
- (must) It is right -> human
`,
	},
}
