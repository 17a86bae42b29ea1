package dod

// Gate decides whether a plan may be applied.
func Gate(f GateFacts) GateState {
	return GateState{Sentence: "The gate is not computed yet.", Reasons: []Reason{{Code: ReasonPlanNotFinished, Action: ActionWait}}}
}
