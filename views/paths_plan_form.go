package views

import "net/url"

// Addresses of the form that makes plans.
const (
	NewPlanPath     = PlansPath + "/new"
	CreatePlanPath  = PlansPath                // POST
	PlanPreviewPath = NewPlanPath + "/preview" // POST
)

// NewPlanFromPath is the new-plan form filled in as an existing plan is.
func NewPlanFromPath(planID string) string { return NewPlanPath + "?from=" + url.QueryEscape(planID) }

// NewPlanWithTemplatePath is the new-plan form with a template's newest version.
func NewPlanWithTemplatePath(templateID int64) string {
	return NewPlanPath + "?template=" + itoa64(templateID)
}

// NewPlanInProjectPath is the new-plan form for one project.
func NewPlanInProjectPath(projectID int64) string {
	return NewPlanPath + "?project=" + itoa64(projectID)
}
