package models

// Bounds of the number of judges that have to say met. They are enforced at
// insert, by a CHECK constraint and in the forms.
const (
	MinOpinions = 1
	MaxOpinions = 3
)

// ClampOpinions brings a wanted number of judges into the allowed range.
func ClampOpinions(n int) int { return min(max(n, MinOpinions), MaxOpinions) }
