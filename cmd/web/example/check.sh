#!/bin/bash
# The project's check: prints each expectation that does not hold, and fails.
cd "$(dirname "$0")" || exit 1
failed=0 passed=0
expect() { # what, wanted, got
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL: $1 must say '$2', but it says '$3'"
	fi
}
expect "greet.sh with the name Ada" "Hello, Ada!" "$(bash greet.sh Ada)"
expect "greet.sh with a name of two words" "Hello, Grace Hopper!" "$(bash greet.sh 'Grace Hopper')"
expect "greet.sh without a name" "Hello, stranger!" "$(bash greet.sh)"
echo "$passed checks passed, $failed failed"
[ "$failed" = 0 ]
