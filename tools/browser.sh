#!/bin/sh
# Print the path of a Chromium or Chrome; install Debian's Chromium where there is none.
# CHROME=/path/to/browser picks one.
set -eu

find_browser() {
    for candidate in "${CHROME:-}" chromium chromium-browser google-chrome google-chrome-stable chrome \
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
        "/Applications/Chromium.app/Contents/MacOS/Chromium"; do
        if [ -n "$candidate" ] && command -v "$candidate"; then
            return
        fi
    done
    return 1
}

find_browser && exit
echo "No Chromium or Chrome found; trying to install Debian's Chromium." >&2
sh "$(dirname "$0")/apt.sh" chromium fonts-dejavu-core || true
find_browser && exit
cat >&2 <<'END'
The tests of the built site need Chromium or Chrome, and none was found or could be installed.
Install one (on Debian, as root: apt-get install chromium), or name it:
    make CHROME=/path/to/chrome test
END
exit 1
