#!/bin/sh
# Install Debian packages where that can be done without asking; fail quietly where it cannot.
set -eu
command -v apt-get >/dev/null 2>&1 || exit 1
if [ "$(id -u)" = 0 ]; then
    sudo=
elif command -v sudo >/dev/null 2>&1; then
    if [ -t 0 ]; then sudo=sudo; else sudo="sudo -n"; fi
else
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq >&2
$sudo apt-get install -y -qq --no-install-recommends "$@" >&2
