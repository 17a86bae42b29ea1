package runner

import (
	"fmt"
	"strings"
	"testing"
)

func TestJudgeSetIsForTheJudgeAlone(t *testing.T) {
	path := script(t, `echo "[$A][$B]"`)
	set := open(t, testOptions(t), fmt.Sprintf("runtimes: {fake: {args: [%q], judge_args: [%q], set: {A: agent, B: both}, judge_set: {A: judge}}}", path, path))
	a, err := set.Judge("fake")
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := a.Ask(bg, question); err != nil || reply.Raw != "[judge][both]\n" {
		t.Errorf("%q, %v", reply.Raw, err)
	}
	job, out := newJob(t, "")
	if set.Runtimes()[0].Run(bg, job); !strings.Contains(out.String(), "[agent][both]") {
		t.Errorf("%s", out)
	}
	_, _, err = parseConfig([]byte("runtimes: {fake: {judge_args: [x], judge_set: {DONEWHEN_X: y}}}"), "")
	if err == nil || !strings.Contains(err.Error(), "judge_set: DONEWHEN_X is the server's own") {
		t.Errorf("%v", err)
	}
}
