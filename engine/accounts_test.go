package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

// accounts is Accounts over a real database, with a clock that stands still.
type accounts struct {
	*engine.Accounts
	t     *testing.T
	st    *store.Store
	path  string
	clock time.Time
}

const goodPassword = "four words in a row"

func newAccounts(t *testing.T) *accounts {
	t.Helper()
	a := &accounts{t: t, path: filepath.Join(t.TempDir(), "main.db"), clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return a.clock }
	st, err := store.Open(t.Context(), a.path, store.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	a.st = st
	a.Accounts = engine.NewAccounts(st, now)
	a.SetPasswordCost(64, 1) // its cost is not what is tested
	return a
}

func (a *accounts) ctx() context.Context { return a.t.Context() }

// admin sets the server up.
func (a *accounts) admin() models.User {
	a.t.Helper()
	token, needed, err := a.SetupToken(a.ctx())
	if err != nil || !needed {
		a.t.Fatal(needed, err)
	}
	u, err := a.Setup(a.ctx(), token, "Ada", goodPassword)
	if err != nil {
		a.t.Fatal(err)
	}
	return u
}

func (a *accounts) join(admin models.User, name string, role models.Role) models.User {
	a.t.Helper()
	token, err := a.Invite(a.ctx(), engine.ActorOf(admin), role)
	if err != nil {
		a.t.Fatal(err)
	}
	u, err := a.AcceptInvite(a.ctx(), token, name, goodPassword)
	if err != nil {
		a.t.Fatal(err)
	}
	return u
}

func wantCode(t *testing.T, err error, code models.Code) {
	t.Helper()
	if models.CodeOf(err) != code {
		t.Errorf("error is %q (%v), want %q", models.CodeOf(err), err, code)
	}
}

func TestSetupHappensOnce(t *testing.T) {
	a := newAccounts(t)
	first, needed, err := a.SetupToken(a.ctx())
	if err != nil || !needed {
		t.Fatal(needed, err)
	}
	second, _, err := a.SetupToken(a.ctx())
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Setup(a.ctx(), first, "Ada", goodPassword)
	wantCode(t, err, models.CodeNotFound) // only the link printed last works
	_, err = a.AcceptInvite(a.ctx(), second, "Ada", goodPassword)
	wantCode(t, err, models.CodeNotFound) // and only for what it is
	u, err := a.Setup(a.ctx(), second, "  Ada ", goodPassword)
	if err != nil || u.Role != models.RoleAdmin || u.Name != "Ada" || u.ID == 0 {
		t.Fatal(u, err)
	}
	_, err = a.Setup(a.ctx(), second, "Eve", goodPassword)
	wantCode(t, err, models.CodeNotFound)
	if token, needed, err := a.SetupToken(a.ctx()); err != nil || needed || token != "" {
		t.Errorf("asked for set-up again: %q %v %v", token, needed, err)
	}
}

func TestSetupTwiceAtOnceMakesOneAdmin(t *testing.T) {
	a := newAccounts(t)
	token, _, err := a.SetupToken(a.ctx())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { _, errs[i] = a.Setup(a.ctx(), token, fmt.Sprint("admin", i), goodPassword) })
	}
	wg.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else {
			wantCode(t, err, models.CodeNotFound)
		}
	}
	if users, _ := a.st.Users(a.ctx()); made != 1 || len(users) != 1 {
		t.Errorf("%d succeeded, %d users", made, len(users))
	}
}

func TestLinksExpire(t *testing.T) {
	a := newAccounts(t)
	token, _, _ := a.SetupToken(a.ctx())
	start := a.clock
	a.clock = start.Add(engine.SetupLinkLife)
	_, err := a.Setup(a.ctx(), token, "Ada", goodPassword)
	wantCode(t, err, models.CodeNotFound)
	a.clock = start.Add(engine.SetupLinkLife - time.Second)
	admin, err := a.Setup(a.ctx(), token, "Ada", goodPassword)
	if err != nil {
		t.Fatal(err)
	}
	invite, err := a.Invite(a.ctx(), engine.ActorOf(admin), models.RoleLead)
	if err != nil {
		t.Fatal(err)
	}
	a.clock = a.clock.Add(engine.InviteLinkLife)
	_, err = a.AcceptInvite(a.ctx(), invite, "Lea", goodPassword)
	wantCode(t, err, models.CodeNotFound)
	if open, err := a.OpenInvites(a.ctx(), engine.ActorOf(admin)); err != nil || len(open) != 0 {
		t.Errorf("%v %v", open, err)
	}
}

func TestInvitesAreAdminsOnly(t *testing.T) {
	a := newAccounts(t)
	admin := a.admin()
	lead := a.join(admin, "Lea", models.RoleLead)
	viewer := a.join(admin, "Vic", models.RoleViewer)
	for _, u := range []models.User{lead, viewer, {}} {
		actor := engine.ActorOf(u)
		_, err := a.Invite(a.ctx(), actor, models.RoleViewer)
		wantCode(t, err, models.CodeForbidden)
		_, err = a.ResetLink(a.ctx(), actor, "Ada")
		wantCode(t, err, models.CodeForbidden)
		_, err = a.Users(a.ctx(), actor)
		wantCode(t, err, models.CodeForbidden)
		_, err = a.OpenInvites(a.ctx(), actor)
		wantCode(t, err, models.CodeForbidden)
		wantCode(t, a.ChangeRole(a.ctx(), actor, u.ID, models.RoleAdmin), models.CodeForbidden)
		wantCode(t, a.Disable(a.ctx(), actor, admin.ID), models.CodeForbidden)
		wantCode(t, a.Enable(a.ctx(), actor, admin.ID), models.CodeForbidden)
		wantCode(t, a.WithdrawInvite(a.ctx(), actor, 1), models.CodeForbidden)
	}
	_, err := a.Invite(a.ctx(), engine.ActorOf(admin), "owner")
	wantCode(t, err, models.CodeInvalid)
}

func TestWithdrawnInviteIsUnusable(t *testing.T) {
	a := newAccounts(t)
	admin := engine.ActorOf(a.admin())
	token, err := a.Invite(a.ctx(), admin, models.RoleLead)
	if err != nil {
		t.Fatal(err)
	}
	open, err := a.OpenInvites(a.ctx(), admin)
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	if err := a.WithdrawInvite(a.ctx(), admin, open[0].ID); err != nil {
		t.Fatal(err)
	}
	_, err = a.AcceptInvite(a.ctx(), token, "Lea", goodPassword)
	wantCode(t, err, models.CodeNotFound)
	wantCode(t, a.WithdrawInvite(a.ctx(), admin, open[0].ID), models.CodeConflict)
}

func TestNames(t *testing.T) {
	a := newAccounts(t)
	admin := a.admin()
	for _, name := range []string{"", "  ", strings.Repeat("x", 65), "a\nb", "<b>", "ad\u200ba", "\xff\xfe"} {
		token, _ := a.Invite(a.ctx(), engine.ActorOf(admin), models.RoleViewer)
		_, err := a.AcceptInvite(a.ctx(), token, name, goodPassword)
		wantCode(t, err, models.CodeInvalid)
		if e, ok := err.(*models.Error); !ok || e.Fields["name"] == "" {
			t.Errorf("%q: no message at the field: %v", name, err)
		}
	}
	for _, same := range []string{"ada", "ADA", "Ａda"} {
		token, _ := a.Invite(a.ctx(), engine.ActorOf(admin), models.RoleViewer)
		_, err := a.AcceptInvite(a.ctx(), token, same, goodPassword)
		if e, ok := err.(*models.Error); !ok || !strings.Contains(e.Fields["name"], "taken") {
			t.Errorf("%q is the same name as Ada: %v", same, err)
		}
		// The link is not used up by a refusal.
		if _, err := a.Link(a.ctx(), engine.LinkInvite, token); err != nil {
			t.Error(err)
		}
	}
	token, _ := a.Invite(a.ctx(), engine.ActorOf(admin), models.RoleViewer)
	if _, err := a.AcceptInvite(a.ctx(), token, "Zoë O'Neil-2", goodPassword); err != nil {
		t.Error(err)
	}
	if _, err := a.Login(a.ctx(), "zoe\u0308 o'neil-2", goodPassword, "192.0.2.1"); err != nil {
		t.Error("the same name typed with another encoding: ", err)
	}
	// Both fields are shown at once.
	_, err := a.AcceptInvite(a.ctx(), mustInvite(t, a, admin), "", "short")
	if e, ok := err.(*models.Error); !ok || e.Fields["name"] == "" || e.Fields["password"] == "" {
		t.Errorf("%v", err)
	}
}

func mustInvite(t *testing.T, a *accounts, admin models.User) string {
	t.Helper()
	token, err := a.Invite(a.ctx(), engine.ActorOf(admin), models.RoleViewer)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestA9_04_Passwords(t *testing.T) {
	a := newAccounts(t)
	admin := a.admin()
	refused := map[string]string{
		"9 signs":          "123456789",
		"9 emoji":          strings.Repeat("😀", 9),
		"one sign":         strings.Repeat("a", 30),
		"the name":         "Some Long Name",
		"above 1000 bytes": strings.Repeat("ab", 501),
	}
	for what, password := range refused {
		_, err := a.AcceptInvite(a.ctx(), mustInvite(t, a, admin), "some long name", password)
		if e, ok := err.(*models.Error); !ok || e.Code != models.CodeInvalid || e.Fields["password"] == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	taken := map[string]string{
		"10 signs":              "0123456789",
		"150 signs":             strings.Repeat("0123456789abcde", 10),
		"30 emoji in 120 bytes": strings.Repeat("😀😁😂", 10),
		"1000 bytes":            strings.Repeat("ab", 500),
		"blanks are kept":       "   ten signs ",
	}
	i := 0
	for what, password := range taken {
		i++
		name := fmt.Sprint("user", i)
		if _, err := a.AcceptInvite(a.ctx(), mustInvite(t, a, admin), name, password); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		addr := fmt.Sprint("192.0.2.", i)
		if _, err := a.Login(a.ctx(), name, password, addr); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		// All of it counts: the last sign alone makes it wrong.
		_, err := a.Login(a.ctx(), name, password[:len(password)-1]+"#", addr)
		wantCode(t, err, models.CodeInvalid)
	}
	for _, long := range []string{strings.Repeat("x", 150), strings.Repeat("x", 1<<20), strings.Repeat("\xff", 200)} {
		if _, err := a.Login(a.ctx(), "Ada", long, "192.0.2.200"); err == nil || !strings.HasPrefix(err.Error(), "Name or password is wrong") {
			t.Errorf("login with %d bytes: %v", len(long), err)
		}
	}
}

func TestNothingSecretIsStored(t *testing.T) {
	a := newAccounts(t)
	setup, _, _ := a.SetupToken(a.ctx())
	u, err := a.Setup(a.ctx(), setup, "Ada", goodPassword)
	if err != nil {
		t.Fatal(err)
	}
	invite := mustInvite(t, a, u)
	reset, err := a.ResetLink(a.ctx(), models.Server, "ada")
	if err != nil {
		t.Fatal(err)
	}
	session, _, err := a.StartSession(a.ctx(), u.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{a.path, a.path + "-wal"} {
		content, err := os.ReadFile(file)
		if err != nil && file == a.path {
			t.Fatal(err)
		}
		for what, secret := range map[string]string{"password": goodPassword, "set-up": setup, "invite": invite, "reset": reset, "session": session} {
			if strings.Contains(string(content), secret) {
				t.Errorf("the %s is in %s", what, filepath.Base(file))
			}
		}
		if file == a.path && !strings.Contains(string(content), "$argon2id$") {
			t.Error("no argon2id hash is in the file: this test looks at the wrong place")
		}
	}
}

func TestResetLink(t *testing.T) {
	a := newAccounts(t)
	admin := a.admin()
	lead := a.join(admin, "Lea", models.RoleLead)
	session, _, err := a.StartSession(a.ctx(), lead.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.ResetLink(a.ctx(), models.Server, "nobody")
	wantCode(t, err, models.CodeNotFound)
	old, err := a.ResetLink(a.ctx(), models.Server, "LEA")
	if err != nil {
		t.Fatal(err)
	}
	token, err := a.ResetLink(a.ctx(), engine.ActorOf(admin), "Lea")
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.SetPassword(a.ctx(), old, "another good one")
	wantCode(t, err, models.CodeNotFound)
	_, err = a.SetPassword(a.ctx(), token, "short")
	wantCode(t, err, models.CodeInvalid)
	if _, err = a.SetPassword(a.ctx(), token, "another good one"); err != nil {
		t.Fatal(err)
	}
	_, err = a.SetPassword(a.ctx(), token, "another good one")
	wantCode(t, err, models.CodeNotFound)
	if _, _, ok, _ := a.FindSession(a.ctx(), session, true); ok {
		t.Error("the login from before goes on")
	}
	_, err = a.Login(a.ctx(), "Lea", goodPassword, "192.0.2.1")
	wantCode(t, err, models.CodeInvalid)
	if _, err = a.Login(a.ctx(), "Lea", "another good one", "192.0.2.1"); err != nil {
		t.Error(err)
	}
}

func TestTheLastAdminStays(t *testing.T) {
	a := newAccounts(t)
	ada := a.admin()
	actor := engine.ActorOf(ada)
	bob := a.join(ada, "Bob", models.RoleAdmin)
	if err := a.Disable(a.ctx(), actor, bob.ID); err != nil {
		t.Fatal(err)
	}
	wantCode(t, a.Disable(a.ctx(), actor, ada.ID), models.CodeConflict) // a disabled admin does not count
	wantCode(t, a.ChangeRole(a.ctx(), actor, ada.ID, models.RoleLead), models.CodeConflict)
	if err := a.Enable(a.ctx(), actor, bob.ID); err != nil {
		t.Fatal(err)
	}
	if err := a.ChangeRole(a.ctx(), actor, ada.ID, models.RoleLead); err != nil {
		t.Fatal(err)
	}
	wantCode(t, a.ChangeRole(a.ctx(), engine.ActorOf(bob), bob.ID, models.RoleViewer), models.CodeConflict)
	wantCode(t, a.ChangeRole(a.ctx(), engine.ActorOf(bob), 999, models.RoleViewer), models.CodeNotFound)
	wantCode(t, a.ChangeRole(a.ctx(), engine.ActorOf(bob), ada.ID, "boss"), models.CodeInvalid)
}

func TestDisabledUserIsOutAtOnce(t *testing.T) {
	a := newAccounts(t)
	ada := a.admin()
	lea := a.join(ada, "Lea", models.RoleLead)
	token, s, err := a.StartSession(a.ctx(), lea.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	stream, stop := a.Watch(a.ctx(), token, s)
	defer stop()
	if stream.Err() != nil {
		t.Fatal("a stream of a good session ends at once")
	}
	if err := a.Disable(a.ctx(), engine.ActorOf(ada), lea.ID); err != nil {
		t.Fatal(err)
	}
	if stream.Err() == nil {
		t.Error("the open stream goes on")
	}
	if _, _, ok, _ := a.FindSession(a.ctx(), token, true); ok {
		t.Error("the session goes on")
	}
	_, err = a.Login(a.ctx(), "Lea", goodPassword, "192.0.2.1")
	wantCode(t, err, models.CodeForbidden)
	_, err = a.Login(a.ctx(), "Lea", "not the password", "192.0.2.1")
	wantCode(t, err, models.CodeInvalid) // tells strangers nothing about the account
	_, err = a.ResetLink(a.ctx(), models.Server, "Lea")
	wantCode(t, err, models.CodeConflict)
	_, _, err = a.StartSession(a.ctx(), lea.ID, "")
	wantCode(t, err, models.CodeForbidden)
	late, stop := a.Watch(a.ctx(), token, s)
	defer stop()
	if late.Err() == nil {
		t.Error("a stream opens after the session's end")
	}
}

func TestSessionsEndIdleAndAbsolutely(t *testing.T) {
	a := newAccounts(t)
	ada := a.admin()
	start := a.clock
	token, _, err := a.StartSession(a.ctx(), ada.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	good := func(token string, used bool) bool {
		t.Helper()
		_, u, ok, err := a.FindSession(a.ctx(), token, used)
		if err != nil || ok && u.ID != ada.ID {
			t.Fatal(u, err)
		}
		return ok
	}
	if !good(token, true) || good("", true) || good("made up", true) {
		t.Fatal("only the session's own token is good")
	}
	a.clock = start.Add(engine.SessionIdle - time.Second)
	if !good(token, false) {
		t.Fatal("ended too early")
	}
	a.clock = start.Add(engine.SessionIdle) // looking did not count as use
	if good(token, true) {
		t.Error("idle for 12 h, and goes on")
	}
	token, _, err = a.StartSession(a.ctx(), ada.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	start = a.clock
	for a.clock.Before(start.Add(engine.SessionAbsolute - time.Hour)) {
		a.clock = a.clock.Add(11 * time.Hour)
		if !a.clock.Before(start.Add(engine.SessionAbsolute)) {
			break
		}
		if !good(token, true) {
			t.Fatal("a used session ended after ", a.clock.Sub(start))
		}
	}
	a.clock = start.Add(engine.SessionAbsolute)
	if good(token, true) {
		t.Error("7 days are over, and it goes on")
	}
}

func TestA9_01_NewSessionIdAtLogin(t *testing.T) {
	a := newAccounts(t)
	ada := a.admin()
	first, _, err := a.StartSession(a.ctx(), ada.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := a.StartSession(a.ctx(), ada.ID, first)
	if err != nil {
		t.Fatal(err)
	}
	if first == second {
		t.Error("the id stayed the same")
	}
	if _, _, ok, _ := a.FindSession(a.ctx(), first, true); ok {
		t.Error("the former id is still logged in")
	}
	if _, _, ok, _ := a.FindSession(a.ctx(), second, true); !ok {
		t.Error("the new one is not")
	}
}

func TestChangePassword(t *testing.T) {
	a := newAccounts(t)
	ada := a.admin()
	here, _, _ := a.StartSession(a.ctx(), ada.ID, "")
	there, _, _ := a.StartSession(a.ctx(), ada.ID, "")
	const addr = "192.0.2.1"
	err := a.ChangePassword(a.ctx(), ada.ID, "wrong password", "another good one", addr, here)
	if e, ok := err.(*models.Error); !ok || e.Fields["old"] == "" {
		t.Errorf("%v", err)
	}
	err = a.ChangePassword(a.ctx(), ada.ID, goodPassword, "short", addr, here)
	if e, ok := err.(*models.Error); !ok || e.Fields["password"] == "" {
		t.Errorf("%v", err)
	}
	if err := a.ChangePassword(a.ctx(), ada.ID, goodPassword, "another good one", addr, here); err != nil {
		t.Fatal(err)
	}
	if _, _, ok, _ := a.FindSession(a.ctx(), here, true); !ok {
		t.Error("this login ended")
	}
	if _, _, ok, _ := a.FindSession(a.ctx(), there, true); ok {
		t.Error("the other login goes on")
	}
	for range 5 {
		_ = a.ChangePassword(a.ctx(), ada.ID, "wrong password", "another good one", addr, here)
	}
	wantCode(t, a.ChangePassword(a.ctx(), ada.ID, "another good one", "yet another one", addr, here), models.CodeTooMany)
}

func TestLogOutEverywhere(t *testing.T) {
	a := newAccounts(t)
	ada := a.admin()
	one, s, _ := a.StartSession(a.ctx(), ada.ID, "")
	two, _, _ := a.StartSession(a.ctx(), ada.ID, "")
	stream, stop := a.Watch(a.ctx(), one, s)
	defer stop()
	if err := a.EndSessionsOf(a.ctx(), ada.ID); err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{one, two} {
		if _, _, ok, _ := a.FindSession(a.ctx(), token, true); ok {
			t.Error("a login goes on")
		}
	}
	if stream.Err() == nil {
		t.Error("a stream goes on")
	}
}

func TestAccountChangesAreAudited(t *testing.T) {
	a := newAccounts(t)
	ada := a.admin()
	lea := a.join(ada, "Lea", models.RoleViewer)
	actor := engine.ActorOf(ada)
	if err := a.ChangeRole(a.ctx(), actor, lea.ID, models.RoleLead); err != nil {
		t.Fatal(err)
	}
	if err := a.Disable(a.ctx(), actor, lea.ID); err != nil {
		t.Fatal(err)
	}
	events, _, err := a.st.Events(a.ctx(), models.EventFilter{}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, e.Kind)
		if e.Kind == "user.role_changed" && (e.ActorID != ada.ID || e.Actor != "Ada" || e.From != "viewer" || e.To != "lead" || e.Reason != "Lea") {
			t.Errorf("%+v", e)
		}
	}
	if got := strings.Join(kinds, " "); got != "user.disabled user.role_changed user.joined user.invited user.joined" {
		t.Error(got)
	}
}
