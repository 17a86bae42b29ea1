package models

// PassFilter chooses decided passes; zero values mean "any".
type PassFilter struct {
	ProjectID int64
	Phase     string // the phase's name, word for word
	Limit     int    // the newest so many; 0 = 20
}

// DecidedPass is a pass that was decided (met or not met), with what names it.
type DecidedPass struct {
	Pass      Pass
	Phase     string
	PlanTitle string
}
