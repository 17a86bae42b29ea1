package dod

import "context"

// Evaluator decides criteria against a context: evidence key to full value.
// It returns one result per criterion, in the given order.
type Evaluator interface {
	Evaluate(ctx context.Context, criteria []Criterion, context map[string]string) []Result
}
