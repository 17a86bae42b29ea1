package models

// PlanWords is what a plan is found by beside its title: its texts, bounded and
// in small letters. It is written with the texts.
type PlanWords struct {
	PlanID string `gorm:"primaryKey"`
	Words  string
}
