package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

// UserCmd groups the commands about people.
type UserCmd struct {
	Reset UserResetCmd `cmd:"" help:"Print a one-time link with which a person sets a new password."`
}

// UserResetCmd is "web user reset NAME". It works on the data folder of this
// machine, also while the server runs.
type UserResetCmd struct {
	Name string `arg:"" help:"The name the person logs in with."`
}

// Run prints the link.
func (c *UserResetCmd) Run() error {
	cfg, err := readConfig()
	if err != nil {
		return err
	}
	path := filepath.Join(cfg.Data, "donewhen.db")
	if _, err := os.Stat(path); err != nil { // opening would make a new, empty one
		return fmt.Errorf("%w. Set DONEWHEN_DATA to the data folder of the server", err)
	}
	ctx := context.Background()
	db, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		return err
	}
	defer db.Close()
	operator := models.Actor{Name: "operator on the command line", Role: models.RoleAdmin}
	token, err := engine.NewAccounts(db, nil).ResetLink(ctx, operator, c.Name)
	if err != nil {
		return err
	}
	base := cfg.BaseURL
	if base == "" {
		base = "http://" + cfg.Addr
	}
	fmt.Printf("One-time link for %s, valid for a day:\n\n    %s/reset/%s\n\n", c.Name, base, token)
	return nil
}
