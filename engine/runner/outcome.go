package runner

import (
	"fmt"
	"strings"
	"time"

	"donewhen/engine"
	"donewhen/models"
)

const (
	// messageSize bounds a final message that is taken from plain output.
	messageSize = 2 << 10
	// reasonSize bounds the output tail in a reason.
	reasonSize = 2 << 10
	// tailSize is how much of the output is kept in memory for both.
	tailSize = 16 << 10
)

func errored(format string, args ...any) engine.Outcome {
	return engine.Outcome{Status: models.RunErrored, Reason: fmt.Sprintf(format, args...)}
}

// outcomeOf turns an ending into an outcome by exit code alone. last is the end
// of the output, put after the reason word for word.
func outcomeOf(e ending, limit time.Duration, last string) engine.Outcome {
	var out engine.Outcome
	switch e.Cause {
	case causeStart:
		return errored("It could not be started: %v", e.Err)
	case causeCancel:
		out = engine.Outcome{Status: models.RunCancelled, Reason: "Cancelled."}
		if e.Exit < 0 {
			return out
		}
	case causeLimit:
		out = engine.Outcome{Status: models.RunTimedOut, Reason: withTail(fmt.Sprintf("Stopped at its time limit of %s", limit), last)}
	default:
		out.Status = models.RunSucceeded
		switch {
		case e.Signal != 0:
			out.Status = models.RunFailed
			out.Reason = withTail(fmt.Sprintf("Ended by signal %d (%s)", int(e.Signal), e.Signal), last)
		case e.Exit != 0:
			out.Status = models.RunFailed
			out.Reason = withTail(fmt.Sprintf("Exit code %d", e.Exit), last)
		}
	}
	exit := e.Exit
	out.ExitCode = &exit
	return sure(out, e)
}

// sure takes a success back where it is not certain that all was recorded or
// that all has ended: the tree may still change, the output may lack a line.
func sure(out engine.Outcome, e ending) engine.Outcome {
	if out.Status != models.RunSucceeded {
		return out
	}
	if e.Err != nil {
		out.Status, out.Reason = models.RunErrored, fmt.Sprintf("Exit code 0, but %v", e.Err)
	} else if e.Left > 0 {
		out.Status = models.RunErrored
		out.Reason = fmt.Sprintf("Exit code 0, but %d of its processes could not be ended; see to them on the server", e.Left)
	}
	return out
}

// withTail is a sentence followed by what was printed last, if anything was.
func withTail(sentence, last string) string {
	if last = strings.TrimSpace(last); last == "" {
		return sentence + ", and it printed nothing."
	}
	return sentence + ": " + last
}

// limitOf is a run's time limit: what the job asks for, or the runtime's own,
// and never more than the runtime allows.
func limitOf(spec *runtimeSpec, wanted time.Duration) time.Duration {
	if wanted <= 0 {
		wanted = time.Duration(spec.Limit)
	}
	return min(wanted, time.Duration(spec.MaxLimit))
}
