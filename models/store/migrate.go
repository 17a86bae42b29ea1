package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrate brings the schema up to date. Files are numbered and only go up: a
// change to a table is a new file, never an edit of an old one.
func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the version of the database's schema: %w", err)
	}
	if have > want {
		return fmt.Errorf("the database was made by a newer version of donewhen (schema %d, this program knows %d). Start the newer program, or restore a backup", have, want)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("bring the database's schema up to date: %w. The failed step was rolled back", err)
	}
	return nil
}
