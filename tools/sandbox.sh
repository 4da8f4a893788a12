#!/bin/sh
# See that bubblewrap is there, in which students' code is graded; install Debian's where that can be done.
# Without it the tests that need it are skipped, and `limetutor class grade` asks for a flag.
set -eu
command -v bwrap >/dev/null 2>&1 && exit
[ "$(uname -s)" = Linux ] || exit 0
echo "No bubblewrap found; trying to install Debian's." >&2
sh "$(dirname "$0")/apt.sh" bubblewrap ||
    echo "Please install bubblewrap: students' code is graded in it." >&2
