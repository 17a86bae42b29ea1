package workspace

import (
	"fmt"
	"strings"
)

// Codes of Refused. They are stable: the engine stores them and pages choose words by them.
const (
	CodeNotARepository = "not_a_repository" // the path is no usable git repository
	CodeNoBranch       = "no_branch"        // the branch does not exist (or has no commit yet)
	CodeBadName        = "bad_name"         // a branch, project id or plan id git could misread
	CodeBlockedName    = "blocked_name"     // a branch `donewhen` stands where donewhen/<plan> must go
	CodeUnsupported    = "unsupported"      // shallow or partial clone: objects are missing
	CodeConflict       = "conflict"         // the work and the target changed the same lines
	CodeMoved          = "moved"            // the target branch is no longer where it was
	CodeBusy           = "busy"             // merge, rebase, cherry-pick, revert or bisect in progress
	CodeDirty          = "dirty"            // files that apply would change hold uncommitted changes
	CodeInTheWay       = "in_the_way"       // an untracked or ignored file stands where a new one comes
	CodeWrongBranch    = "wrong_branch"     // the checkout changed its branch under our hands, or two hold it
	CodeLocked         = "locked"           // a lock file of git is there
	CodeReadOnly       = "read_only"        // the server may not write there
	CodeChecking       = "checking"         // a check is at work in the workspace
	CodeNoWorkspace    = "no_workspace"     // the plan's workspace is missing or is no plain folder
)

// Refused is a request that was turned down before anything was changed, or after everything was
// put back. Message is one sentence for a person and says what to do next; Files (slash paths from
// the repository's top, may be empty) are the ones it is about.
type Refused struct {
	Code    string   `json:"code"`
	Message string   `json:"message"`
	Files   []string `json:"files,omitempty"`
}

// Error returns the message followed by the files, at most ten of them.
func (r *Refused) Error() string {
	if len(r.Files) == 0 {
		return r.Message
	}
	return r.Message + " (" + someFiles(r.Files) + ")"
}

func someFiles(files []string) string {
	const most = 10
	if len(files) <= most {
		return strings.Join(files, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(files[:most], ", "), len(files)-most)
}

func refuse(code string, files []string, format string, a ...any) *Refused {
	return &Refused{Code: code, Message: fmt.Sprintf(format, a...), Files: files}
}
