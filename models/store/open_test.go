package store

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"donewhen/models"
)

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}

func TestPragmas(t *testing.T) {
	s := open(t)
	decide := must(s.decide.DB())(t)
	read := must(s.db.DB())(t)
	for _, tc := range []struct {
		handle string
		db     *sql.DB
		want   map[string]string
	}{
		{"write", raw(t, s), map[string]string{"synchronous": "1", "query_only": "0"}},
		{"decide", decide, map[string]string{"synchronous": "2", "query_only": "0"}},
		{"read", read, map[string]string{"query_only": "1"}},
	} {
		tc.want["journal_mode"] = "wal"
		tc.want["foreign_keys"] = "1"
		tc.want["busy_timeout"] = "10000"
		tc.want["wal_autocheckpoint"] = "0"
		for pragma, want := range tc.want {
			var got string
			if err := tc.db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
				t.Errorf("%s handle: %s = %q (%v), want %s", tc.handle, pragma, got, err, want)
			}
		}
	}
	if _, err := read.Exec("DELETE FROM plans"); err == nil {
		t.Error("the handle for reading can write")
	}
}

func TestReopenKeepsEverything(t *testing.T) {
	// A folder whose name has every sign that a file URI gives a meaning to.
	dir := filepath.Join(t.TempDir(), "my data? 100% #1 & more")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "main.db")
	s, done := openAt(t, path, nil)
	d := plant(t, s)
	before := must(s.PlanDetail(ctx, d.plan.ID))(t)
	done()
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if left, err := os.Stat(path + "-wal"); err == nil && left.Size() > 0 {
		t.Errorf("after Close %d bytes are only in the write-ahead log", left.Size())
	}
	s, _ = openAt(t, path, nil)
	after := must(s.PlanDetail(ctx, d.plan.ID))(t)
	if !reflect.DeepEqual(after, before) {
		t.Errorf("after a restart\n%+v\nwant\n%+v", after, before)
	}
	if len(after.Phases) != 2 || len(after.Phases[0].Passes) != 1 || len(after.Phases[0].Passes[0].Runs) != 1 {
		t.Errorf("after a restart rows are missing: %+v", after)
	}
	if err := s.Integrity(ctx); err != nil {
		t.Error(err)
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.db")
	s, done := openAt(t, path, nil)
	if _, err := raw(t, s).Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)"); err != nil {
		t.Fatal(err)
	}
	done()
	if again, err := Open(ctx, path, Options{}); err == nil {
		again.Close()
		t.Fatal("a database of a newer version was opened")
	} else if !strings.Contains(err.Error(), "newer version of donewhen") {
		t.Fatalf("the message does not say what is wrong: %v", err)
	}
}

func TestIntegrity(t *testing.T) {
	t.Run("rows that point to nothing", func(t *testing.T) {
		s := open(t)
		d := plant(t, s)
		if err := s.Integrity(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := raw(t, s).Exec("PRAGMA foreign_keys = 0"); err != nil {
			t.Fatal(err)
		}
		if _, err := raw(t, s).Exec("DELETE FROM passes WHERE id = ?", d.pass.ID); err != nil {
			t.Fatal(err)
		}
		if err := s.Integrity(ctx); err == nil || !strings.Contains(err.Error(), "passes") {
			t.Errorf("a dangling reference was not found: %v", err)
		}
	})
	t.Run("a damaged file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "main.db")
		s, done := openAt(t, path, nil)
		for range 20 {
			plant(t, s)
		}
		done()
		f := must(os.OpenFile(path, os.O_RDWR, 0))(t)
		size := must(f.Stat())(t).Size()
		// The first page has the schema; every other page is spoilt.
		for at := int64(4096); at < size; at += 4096 {
			must(f.WriteAt([]byte(strings.Repeat("spoilt", 200)), at))(t)
		}
		f.Close()
		s, err := Open(ctx, path, Options{})
		if err != nil {
			return // refusing to open is as good
		}
		defer s.Close()
		if err := s.Integrity(ctx); err == nil {
			t.Error("a damaged file was called sound")
		}
	})
}

// TestA5_01_SecondServerRefused takes the lock from a second process, while the
// first has it, and after the first was killed.
func TestA5_01_SecondServerRefused(t *testing.T) {
	if dir := os.Getenv("STORE_TEST_LOCK"); dir != "" {
		if _, err := Lock(dir); err != nil {
			t.Fatal(err)
		}
		fmt.Println("locked")
		_, _ = io.Copy(io.Discard, os.Stdin) // until killed
		return
	}
	dir := t.TempDir()
	self := must(os.Executable())(t)
	other := exec.Command(self, "-test.run=^TestA5_01_SecondServerRefused$")
	other.Env = append(os.Environ(), "STORE_TEST_LOCK="+dir)
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out := must(other.StdoutPipe())(t)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the first process said %q, %v", line, err)
	}

	before := listing(t, dir)
	_, err := Lock(dir)
	if err == nil {
		t.Fatal("two processes have the data folder")
	}
	if !containsAll(err.Error(), "another donewhen server", dir) {
		t.Errorf("the message does not say what is wrong: %v", err)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the refused server changed the folder: %s -> %s", before, after)
	}

	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.Wait()
	release, err := Lock(dir)
	if err != nil {
		t.Fatalf("the lock outlived its process: %v", err)
	}
	if _, err := Lock(dir); err == nil {
		t.Error("one process locked the folder twice")
	}
	release()
	release = must(Lock(dir))(t)
	release()
	if _, err := Lock(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing folder was locked")
	}
}

func listing(t *testing.T, dir string) string {
	var s strings.Builder
	for _, e := range must(os.ReadDir(dir))(t) {
		info := must(e.Info())(t)
		fmt.Fprintf(&s, "%s %d %v; ", e.Name(), info.Size(), info.ModTime())
	}
	return s.String()
}

// Everything that was committed comes into the main file by itself, and a log
// that has grown long starts again from its beginning.
func TestCheckpointer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.db")
	s, _ := openAt(t, path, nil)
	write := func(megabytes int) {
		big := strings.Repeat("x", 1<<20)
		for range megabytes {
			tx(t, s, func(tx *Tx) error { return tx.InsertEvent(ctx, models.Event{Kind: "test", Reason: big}) })
		}
	}
	size := func(suffix string) int64 { return must(os.Stat(path + suffix))(t).Size() }
	wait := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	write(2)
	wait("the checkpointer copied nothing into the main file", func() bool { return size("") > 2<<20 })

	write(40)
	wait("the checkpointer fell behind", func() bool { return size("") > 42<<20 && s.copied.Load() == s.commits.Load() })
	full := size("-wal")
	write(10)
	if grown := size("-wal"); grown > full {
		t.Errorf("the write-ahead log grew on from %d to %d bytes instead of starting again", full, grown)
	}
}

// The engine's tests hold the clock: a store can live inside such a bubble.
func TestInsideSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, done := openAt(t, filepath.Join(t.TempDir(), "main.db"), nil)
		d := plant(t, s)
		time.Sleep(time.Hour)
		if p := must(s.Plan(ctx, d.plan.ID))(t); time.Since(p.CreatedAt) < time.Hour {
			t.Errorf("made at %v, now %v", p.CreatedAt, time.Now())
		}
		done()
	})
}
