package views

// LoginView is the login page.
type LoginView struct {
	Meta  PageMeta
	Name  string // as typed
	Next  string // where to go afterwards, a path of this server
	Error string // why it did not work
	Note  string // why the page is shown: logged out, password changed
	First bool   // nobody has an account yet
}

// JoinView is the page behind a set-up or invitation link.
type JoinView struct {
	Meta   PageMeta
	Setup  bool // the first admin, otherwise an invitation
	Role   string
	Action string // where the form goes
	Name   string // as typed
	Errors map[string]string
}

func (v JoinView) title() string {
	if v.Setup {
		return "Set up donewhen"
	}
	return "Join donewhen"
}

func (v JoinView) sub() string {
	if v.Setup {
		return "You are the first here. Choose the name and password of the first admin."
	}
	return "You were invited as a " + v.Role + ". Choose your name and password."
}

func (v JoinView) button() string {
	if v.Setup {
		return "Create the admin"
	}
	return "Join"
}

// ResetView is the page behind a reset link.
type ResetView struct {
	Meta   PageMeta
	Name   string // whose password it is
	Action string
	Errors map[string]string
}

// AccountView is the reader's own account.
type AccountView struct {
	Meta   PageMeta
	Errors map[string]string // of the password form
	Error  string            // of the password form, at no field
}

const passwordHint = "At least 10 characters. A few words in a row are good."
