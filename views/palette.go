package views

import "donewhen/models"

// paletteKeys are the second keys of the moves that begin with "g", by menu entry.
var paletteKeys = map[string]string{NavInbox: "i", NavPlans: "p", NavNewPlan: "n", NavTemplates: "t"}

// furtherPages are found by typing, and stand in no menu. Their keys are words too.
var furtherPages = []navItem{
	{"judges", "Judges", "gavel", JudgesPath, models.RoleViewer},
	{"replay", "Try a condition on past passes", "repeat", ReplayPath, models.RoleLead},
}

// keyHelp is what the keyboard can do, as the help shows it. Keys of one step
// are pressed together or one after the other.
type keyHelp struct {
	keys []string
	what string
	role models.Role
}

var keyHelps = []keyHelp{
	{[]string{"Ctrl", "K"}, "Go to a page or a plan (⌘ K on a Mac)", models.RoleViewer},
	{[]string{"g", "i"}, "Inbox", models.RoleViewer},
	{[]string{"g", "p"}, "Plans", models.RoleViewer},
	{[]string{"g", "n"}, "New plan", models.RoleLead},
	{[]string{"g", "t"}, "Templates", models.RoleViewer},
	{[]string{"?"}, "This help", models.RoleViewer},
	{[]string{"Esc"}, "Close what is open", models.RoleViewer},
}

// FoundPlans are the plans that fit the palette's words.
type FoundPlans struct {
	Words string // "" shows the newest plans
	Rows  []FoundPlan
}

// FoundPlan is one of them.
type FoundPlan struct {
	ID, Title, Project string
	Status             models.PlanStatus
}
