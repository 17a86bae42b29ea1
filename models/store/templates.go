package store

import (
	"context"
	"fmt"

	"donewhen/models"
)

// TemplateListRow is one line of the templates list.
type TemplateListRow = models.TemplateListRow

// TemplateVersion reads one published version.
func (r Reader) TemplateVersion(ctx context.Context, id int64) (models.TemplateVersion, error) {
	return byID[models.TemplateVersion](ctx, r, "template version", id)
}

// LatestTemplateVersion reads a template's newest version.
func (r Reader) LatestTemplateVersion(ctx context.Context, templateID int64) (models.TemplateVersion, error) {
	v, err := first[models.TemplateVersion](r.q(ctx).Where("template_id = ?", templateID).Order("version DESC"), "the template's versions")
	switch {
	case err != nil:
		return models.TemplateVersion{}, err
	case v == nil:
		return models.TemplateVersion{}, models.Errorf(models.CodeNotFound, "Template %d has no published version. Publish one first.", templateID)
	}
	return *v, nil
}

// TemplateByName finds a template by its exact name, nil when there is none.
func (r Reader) TemplateByName(ctx context.Context, name string) (*models.Template, error) {
	return first[models.Template](r.q(ctx).Where("name = ?", name), "the template")
}

// Templates lists all templates by name, archived ones last.
func (r Reader) Templates(ctx context.Context) ([]TemplateListRow, error) {
	q := r.q(ctx).Table("templates").
		Select("templates.*, COALESCE(v.version, 0) AS latest, v.created_at AS published_at, COALESCE(v.publisher_name, '') AS published_by").
		Joins(`LEFT JOIN template_versions v ON v.template_id = templates.id
			AND v.version = (SELECT MAX(n.version) FROM template_versions n WHERE n.template_id = templates.id)`).
		Order("CASE WHEN templates.archived_at IS NULL THEN 0 ELSE 1 END, templates.name")
	return rows[TemplateListRow](q, "the templates")
}

// TemplateDetail reads a template with its versions, the newest first.
func (r Reader) TemplateDetail(ctx context.Context, id int64) (d models.TemplateDetail, err error) {
	err = r.snapshot(ctx, func(r Reader) error {
		if d.Template, err = byID[models.Template](ctx, r, "template", id); err != nil {
			return err
		}
		d.Versions, err = rows[models.TemplateVersion](r.q(ctx).Where("template_id = ?", id).Order("version DESC"), "the template's versions")
		return err
	})
	return d, err
}

// InsertTemplate writes a template and fills in its id and time. The name is
// unique: a second one is a CodeInvalid for the field "name".
func (tx *Tx) InsertTemplate(ctx context.Context, t *models.Template) error {
	t.CreatedAt = tx.now
	stampAll(&t.ArchivedAt)
	if err := tx.q(ctx).Create(t).Error; err != nil {
		if uniqueOf(err) == "templates.name" {
			return models.Invalid("name", "There is a template named %q already. Publish a new version of it, or choose another name.", t.Name)
		}
		return fmt.Errorf("insert the template: %w", err)
	}
	return nil
}

// ArchiveTemplate takes a template out of the choices, or brings it back. One
// that is in that state already is a CodeConflict.
func (tx *Tx) ArchiveTemplate(ctx context.Context, id int64, archive bool) error {
	q := "UPDATE templates SET archived_at = ? WHERE id = ? AND archived_at IS NULL"
	args := []any{tx.now, id}
	if !archive {
		q, args = "UPDATE templates SET archived_at = NULL WHERE id = ? AND archived_at IS NOT NULL", []any{id}
	}
	done := tx.q(ctx).Exec(q, args...)
	if done.Error != nil {
		return fmt.Errorf("archive template %d: %w", id, done.Error)
	}
	if done.RowsAffected == 0 {
		return models.Errorf(models.CodeConflict, "Somebody else was quicker: look at the template again.")
	}
	return nil
}

// InsertTemplateVersion publishes the next version of a template and fills in
// its id, number and time.
func (tx *Tx) InsertTemplateVersion(ctx context.Context, v *models.TemplateVersion) error {
	newest, err := first[models.TemplateVersion](tx.q(ctx).Select("version").Where("template_id = ?", v.TemplateID).Order("version DESC"), "the template's versions")
	if err != nil {
		return err
	}
	v.Version = 1
	if newest != nil {
		v.Version = newest.Version + 1
	}
	v.CreatedAt, v.Opinions = tx.now, models.ClampOpinions(v.Opinions)
	if err := tx.q(ctx).Create(v).Error; err != nil {
		return fmt.Errorf("insert version %d of template %d: %w", v.Version, v.TemplateID, err)
	}
	return nil
}
