#!/bin/sh
# Checks what the project needs on the machine and names everything that is
# missing in one go, with what to install. Exit code 1 when it cannot work.
set -u
cd "$(dirname "$0")/.."

missing=0
lacks() { # what, why, Debian, macOS
	[ "$missing" = 0 ] && echo "donewhen cannot start yet:" >&2
	missing=1
	printf -- '- %s: %s\n    Debian/Ubuntu: %s\n    macOS:         %s\n' "$1" "$2" "$3" "$4" >&2
}

# at_least HAVE WANT: compares dotted version numbers, missing parts are 0.
at_least() {
	awk -v have="$1" -v want="$2" 'BEGIN {
		split(have, h, "."); n = split(want, w, ".")
		for (i = 1; i <= n; i++) { if (h[i]+0 > w[i]+0) exit 0; if (h[i]+0 < w[i]+0) exit 1 }
		exit 0 }'
}

go_want=$(awk '$1 == "go" { print $2; exit }' go.mod)
if ! command -v go >/dev/null 2>&1; then
	lacks "Go $go_want or newer is missing" "the server is written in it" \
		"take it from go.dev/dl, Debian's own may be too old" "brew install go"
elif ! goenv=$(go env GOVERSION CC CGO_ENABLED 2>&1); then
	lacks "this Go cannot build the module (it wants $go_want)" "$goenv" "take a newer one from go.dev/dl" "brew upgrade go"
else
	# Without a C compiler Go switches cgo off by itself, the build succeeds
	# and only the started server fails: ask before.
	cc=$(echo "$goenv" | sed -n 2p)
	if ! command -v "${cc%% *}" >/dev/null 2>&1; then
		lacks "a C compiler ($cc) is missing" "SQLite is compiled with it" "apt-get install gcc libc6-dev" "xcode-select --install"
	elif [ "$(echo "$goenv" | sed -n 3p)" != 1 ]; then
		lacks "CGO_ENABLED is switched off" "SQLite needs cgo" "unset CGO_ENABLED; go env -u CGO_ENABLED" "unset CGO_ENABLED; go env -u CGO_ENABLED"
	fi
fi

# Lazy fetching from a planted promisor remote was closed in these releases;
# agents' repositories must not be able to start anything (docs/operating.md).
if ! command -v git >/dev/null 2>&1; then
	lacks "git 2.39.4 or newer is missing" "agents work in git repositories" "apt-get install git" "brew install git"
else
	git_have=$(git --version | awk '{ print $3 }')
	case "$git_have" in
	2.40.*) git_want=2.40.2 ;; 2.41.*) git_want=2.41.1 ;; 2.42.*) git_want=2.42.2 ;;
	2.43.*) git_want=2.43.4 ;; 2.44.*) git_want=2.44.1 ;; *) git_want=2.39.4 ;;
	esac
	at_least "$git_have" "$git_want" ||
		lacks "git is $git_have, $git_want or newer is needed" "older ones run code from an untrusted repository" "apt-get update && apt-get install git" "brew upgrade git"
fi

command -v bash >/dev/null 2>&1 ||
	lacks "bash is missing" "shell agents and run: checks are started with it" "apt-get install bash" "brew install bash"

node_fault=
if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then
	node_fault="Node.js 20 or newer with npm is missing"
elif node_have=$(node --version) && ! at_least "${node_have#v}" 20; then
	node_fault="Node.js is $node_have, 20 or newer is needed"
fi
if [ -n "$node_fault" ]; then
	if [ -f static/dist/manifest.json ]; then
		echo "Note: $node_fault. The style sheet and scripts in static/dist are used as they are." >&2
	else
		lacks "$node_fault" "it builds the style sheet and scripts" "apt-get install nodejs npm" "brew install node"
	fi
fi

if [ "$missing" = 1 ]; then
	echo "Install what is named and run the command again." >&2
	exit 1
fi
