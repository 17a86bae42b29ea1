package views

// Addresses of projects.
const (
	ProjectsPath   = "/projects"
	NewProjectPath = "/projects/new" // GET the form, POST it
)

// ProjectPlansPath is the list of a project's plans.
func ProjectPlansPath(id int64) string { return PlansPath + "?project=" + itoa64(id) }
