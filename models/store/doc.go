// Package store holds all SQL of donewhen. Reads come through Reader, writes
// through a Tx that only InTx and Decide hand out, so that every write is in a
// transaction. A status changes only by a Move: a compare-and-swap that
// models.MayMove allows and that writes its line of the audit log in the same
// transaction. Whole rows are never written back.
//
// The database is SQLite in WAL mode; the SQL is kept portable so that
// PostgreSQL can come beside it. Refusals that a person should read are
// *models.Error; every other error is a fault and internal.
package store
