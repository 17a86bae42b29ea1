package views

// ProjectsView is the list of projects.
type ProjectsView struct {
	Meta            PageMeta
	Rows            []ProjectRow
	CanAdd, CanPlan bool
}

// ProjectRow is one registered repository.
type ProjectRow struct {
	ID                 int64
	Name, Path, Branch string
	NeedsDod, Example  bool
	Missing            bool // its folder is not there any more
}

// ProjectForm registers a repository; names of its fields: name, path,
// target_branch, require_dod.
type ProjectForm struct {
	Meta               PageMeta
	Name, Path, Branch string
	NeedsDod           bool
	Errors             map[string]string
	Message            string
}
