#!/bin/sh
# Generates the templ files and fails with the names of those that changed,
# appeared or vanished: somebody edited a page and did not generate, or edited
# the generated file.
set -eu
cd "$(dirname "$0")/.."
sums() { find . -name '*_templ.go' -not -path './node_modules/*' -not -path './data/*' -exec cksum {} + | LC_ALL=C sort -k3; }
mkdir -p .task
sums >.task/templ.before
sh tools/generate.sh
sums >.task/templ.after
if ! cmp -s .task/templ.before .task/templ.after; then
	echo "generated files were not up to date (they are now; commit them):" >&2
	LC_ALL=C sort .task/templ.before .task/templ.after | uniq -u | awk '{ print "  " $NF }' | LC_ALL=C sort -u >&2
	exit 1
fi
