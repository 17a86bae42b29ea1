#!/bin/sh
# Writes the Go files of the templ pages. What agents do in their workspaces
# below data/ is not ours to touch.
set -eu
cd "$(dirname "$0")/.."
exec go tool templ generate -log-level error -ignore-pattern '(^|/)data/git/'
