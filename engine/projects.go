package engine

import (
	"context"
	"strings"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

// AddProject registers a git repository. path may be any folder inside it; its
// top level is stored. target "" is the repository's own default branch.
func (e *Engine) AddProject(ctx context.Context, actor models.Actor, name, path, target string, requireDod bool) (models.Project, error) {
	if err := require(actor, models.RoleAdmin); err != nil {
		return models.Project{}, err
	}
	p := models.Project{Name: strings.TrimSpace(name), TargetBranch: strings.TrimSpace(target), RequireDoD: requireDod}
	fields := map[string]string{}
	if p.Name == "" || len(p.Name) > 100 {
		fields["name"] = "Give the project a name of at most 100 bytes."
	}
	info, err := e.Spaces.Inspect(ctx, strings.TrimSpace(path))
	if err != nil {
		fields["path"] = fromGit(err).Error()
	} else {
		p.Path = info.Path
		if p.TargetBranch == "" {
			p.TargetBranch = info.DefaultBranch
		}
		found := false
		for _, b := range info.Branches {
			found = found || b == p.TargetBranch
		}
		if !found {
			fields["target_branch"] = "The repository has no branch " + p.TargetBranch + ". It has: " + joinSome(info.Branches) + "."
		}
	}
	if len(fields) > 0 {
		return p, &models.Error{Code: models.CodeInvalid, Message: "The project was not saved: please mend the marked fields.", Fields: fields}
	}
	return p, e.insertProject(ctx, actor, &p)
}

func (e *Engine) insertProject(ctx context.Context, actor models.Actor, p *models.Project) error {
	return e.changed("", e.Store.Decide(ctx, func(tx *store.Tx) error {
		if err := tx.InsertProject(ctx, p); err != nil {
			return err
		}
		return tx.InsertEvent(ctx, models.Event{Kind: "project.added", To: p.Name, ActorID: actor.ID, Actor: actor.Name, Reason: p.Path})
	}))
}

// PublishTemplate stores a new version of a template's text; templateID 0
// makes a new template. A published version never changes.
func (e *Engine) PublishTemplate(ctx context.Context, actor models.Actor, templateID int64, name, description, text, why string, args []models.TemplateArg) (models.TemplateVersion, error) {
	v := models.TemplateVersion{TemplateID: templateID, Text: text, Args: args, Why: strings.TrimSpace(why), PublishedBy: actor.ID, PublisherName: actor.Name}
	if err := require(actor, models.RoleLead); err != nil {
		return v, err
	}
	fields := map[string]string{}
	name = strings.TrimSpace(name)
	if templateID == 0 && (name == "" || len(name) > 100) {
		fields["name"] = "Give the template a name of at most 100 bytes."
	}
	switch problems := dod.ValidateDoD(text); {
	case len(text) > maxText:
		fields["text"] = "The text is too long: at most 256 KiB."
	case len(problems) > 0:
		fields["text"] = problemText(problems)
	case len(dod.ParseCriteria(text)) == 0:
		fields["text"] = "There is no criterion in it. Write one per line, such as: - All tests pass -> run: go test ./..."
	case hasRun(dod.ParseCriteria(text)) && !actor.Role.Can(e.CommandsBy):
		fields["text"] = "Only the role " + string(e.CommandsBy) + " may write run: commands here."
	}
	seen := map[string]bool{}
	for i, a := range args {
		if !dod.ValidArgName(a.Name) || seen[a.Name] {
			fields["args."+itoa(i)] = "An argument's name is a letter, then letters, digits, _ - or ., and each name stands once."
		}
		seen[a.Name] = true
	}
	if len(fields) > 0 {
		return v, &models.Error{Code: models.CodeInvalid, Message: "The template was not published: please mend the marked fields.", Fields: fields}
	}
	err := e.Store.Decide(ctx, func(tx *store.Tx) error {
		if templateID == 0 {
			t := models.Template{Name: name, Description: strings.TrimSpace(description)}
			if err := tx.InsertTemplate(ctx, &t); err != nil {
				return err
			}
			v.TemplateID = t.ID
		}
		if err := tx.InsertTemplateVersion(ctx, &v); err != nil {
			return err
		}
		return tx.InsertEvent(ctx, models.Event{Kind: "template.published", To: "version " + itoa(v.Version), ActorID: actor.ID, Actor: actor.Name, Reason: name + ": " + v.Why})
	})
	return v, e.changed("", err)
}
