package engine

import (
	"context"
	"slices"
	"strings"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

// TemplateDraft is a template's next version as a lead wrote it. Fields of an
// error name its places: "name", "description", "text", "why", "opinions", "args.0", ….
type TemplateDraft struct {
	TemplateID  int64  // 0 makes a new template
	Base        int    // the version that was edited; 0 for a new template
	Name        string // of a new template
	Description string // of a new template
	Text        string
	Args        []models.TemplateArg
	Opinions    int    // judges that have to say met of its judge lines; 0 = 1
	Why         string // what changed; may be empty for a new template
}

// PublishTemplate stores a new version of a template's text. A published
// version never changes. When somebody published meanwhile, so that Base is not
// the newest version any more, it is a CodeConflict: nothing is overwritten
// unseen, and a form sent twice makes one version.
func (e *Engine) PublishTemplate(ctx context.Context, actor models.Actor, in TemplateDraft) (models.TemplateVersion, error) {
	v := models.TemplateVersion{TemplateID: in.TemplateID, Text: in.Text, Args: in.Args, Opinions: models.ClampOpinions(in.Opinions), Why: strings.TrimSpace(in.Why), PublishedBy: actor.ID, PublisherName: actor.Name}
	if err := require(actor, models.RoleLead); err != nil {
		return v, err
	}
	in.Name, in.Description = strings.TrimSpace(in.Name), strings.TrimSpace(in.Description)
	if fields := e.templateProblems(actor, in, v.Why); len(fields) > 0 {
		return v, &models.Error{Code: models.CodeInvalid, Message: "The template was not published: please mend the marked fields.", Fields: fields}
	}
	err := e.Store.Decide(ctx, func(tx *store.Tx) error {
		t := models.Template{ID: in.TemplateID, Name: in.Name, Description: in.Description}
		if in.TemplateID == 0 {
			if err := tx.InsertTemplate(ctx, &t); err != nil {
				return err
			}
		} else if err := nextVersion(ctx, tx, in, &t); err != nil {
			return err
		}
		v.TemplateID = t.ID
		if err := tx.InsertTemplateVersion(ctx, &v); err != nil {
			return err
		}
		reason := t.Name
		if v.Why != "" {
			reason += ": " + v.Why
		}
		return tx.InsertEvent(ctx, models.Event{Kind: "template.published", To: "version " + itoa(v.Version), ActorID: actor.ID, Actor: actor.Name, Reason: reason})
	})
	return v, e.changed("", err)
}

// nextVersion checks that in continues the template's newest version, and reads the template.
func nextVersion(ctx context.Context, tx *store.Tx, in TemplateDraft, t *models.Template) error {
	d, err := tx.TemplateDetail(ctx, in.TemplateID)
	if err != nil {
		return err
	}
	*t = d.Template
	if len(d.Versions) == 0 {
		return nil
	}
	newest := d.Versions[0]
	switch {
	case newest.Version != in.Base:
		return models.Errorf(models.CodeConflict, "Version %d was published by %s meanwhile. Look at what it changed before you publish yours: what you typed is still here.", newest.Version, newest.PublisherName)
	case newest.Text == in.Text && slices.Equal(newest.Args, in.Args) && newest.Opinions == models.ClampOpinions(in.Opinions):
		return models.Invalid("text", "Nothing differs from version %d. Change something, or leave it as it is.", newest.Version)
	}
	return nil
}

// templateProblems says by field what keeps a draft from being published.
func (e *Engine) templateProblems(actor models.Actor, in TemplateDraft, why string) map[string]string {
	fields := map[string]string{}
	criteria := dod.ParseCriteria(in.Text)
	if in.TemplateID == 0 && (in.Name == "" || len(in.Name) > 100 || strings.ContainsAny(in.Name, "\n\r")) {
		fields["name"] = "Give the template a name: one line of at most 100 bytes."
	}
	if len(in.Description) > 1000 {
		fields["description"] = "The description is too long: at most 1000 bytes."
	}
	switch problems := dod.ValidateDoD(in.Text); {
	case len(in.Text) > maxText:
		fields["text"] = "The text is too long: at most 256 KiB."
	case len(problems) > 0:
		fields["text"] = problemText(problems)
	case len(criteria) == 0:
		fields["text"] = "There is no criterion in it. Write one per line, such as: - All tests pass -> run: go test ./..."
	case hasRun(criteria) && !actor.Role.Can(e.CommandsBy):
		fields["text"] = "Only the role " + string(e.CommandsBy) + " may write run: commands here."
	}
	if in.Opinions != 0 && models.ClampOpinions(in.Opinions) != in.Opinions {
		fields["opinions"] = "Choose one of the numbers of judges."
	}
	switch {
	case in.TemplateID != 0 && why == "":
		fields["why"] = "Say what changed and why: it stands in the template's history."
	case len(why) > 4000:
		fields["why"] = "That is too long: at most 4000 bytes."
	}
	seen := map[string]bool{}
	for i, a := range in.Args {
		switch {
		case !dod.ValidArgName(a.Name):
			fields["args."+itoa(i)] = "An argument's name is a letter, then letters, digits, _ - or a dot."
		case seen[a.Name]:
			fields["args."+itoa(i)] = "There is an argument of this name already."
		}
		seen[a.Name] = true
	}
	return fields
}
