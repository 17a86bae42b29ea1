package engine

import "github.com/alexedwards/argon2id"

// CheapPasswords makes hashing fast: its cost is not what is tested.
func CheapPasswords(a *Accounts) {
	a.pass = newPasswords(argon2id.Params{Memory: 64, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32})
}

// CostlyPasswords makes hashing slow enough to measure.
func CostlyPasswords(a *Accounts) {
	a.pass = newPasswords(argon2id.Params{Memory: 16 << 10, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32})
}
