#!/bin/sh
# Fails with the names of Go files that gofmt would change.
set -eu
cd "$(dirname "$0")/.."
bad=$(find . \( -name node_modules -o -name data -o -name .git -o -name .task \) -prune -o -name '*.go' -exec gofmt -l {} +)
if [ -n "$bad" ]; then
	printf 'not formatted, run gofmt -w on:\n%s\n' "$bad" >&2
	exit 1
fi
