#!/bin/sh
# Make the environment VENV and put the pinned packages of REQUIREMENTS and limetutor itself into it.
# Usage: tools/setup.sh VENV REQUIREMENTS        (PYTHON=... picks the interpreter)
set -eu
venv=$1
requirements=$2

say() { printf '%s\n' "$*" >&2; }
new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 python3.14 python; do
        if [ -n "$candidate" ] && new_enough "$candidate"; then
            command -v "$candidate"
            return
        fi
        if [ -n "${PYTHON:-}" ]; then
            break # asked for by name: no other will do
        fi
    done
    if [ -n "${PYTHON:-}" ]; then
        say "PYTHON=$PYTHON is not a Python 3.11 or newer."
    else
        say "limetutor needs Python 3.11 or newer; python3 here is: $(python3 --version 2>&1 || true)."
        say "Install one, or name it: make PYTHON=/path/to/python3.12 book"
    fi
    return 1
}

# Debian and Ubuntu ship venv as a package of its own.
need_venv() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1 && return
    package=$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    say "$1 comes without venv; trying to install $package."
    sh "$(dirname "$0")/apt.sh" "$package" || {
        say "Please install $package (or another Python 3.11 or newer), then run make again."
        return 1
    }
}

if [ -x "$venv/bin/python" ] && ! new_enough "$venv/bin/python"; then
    say "$venv holds a Python that is too old or no longer there; making it anew."
    rm -rf "$venv"
fi
if [ ! -x "$venv/bin/python" ]; then
    python=$(find_python)
    need_venv "$python"
    say "Making $venv with $("$python" --version)."
    "$python" -m venv "$venv"
fi

# uv installs in seconds what takes pip minutes; where it cannot be had, pip does.
pip() { "$venv/bin/python" -m pip --disable-pip-version-check "$@"; }
if [ ! -x "$venv/bin/uv" ]; then
    pip install --quiet uv || say "uv is not to be had here; pip takes a few minutes instead."
fi
install() {
    if [ -x "$venv/bin/uv" ]; then
        "$venv/bin/uv" pip install --quiet --python "$venv/bin/python" "$@" && return
        say "uv did not manage; trying again with pip."
    fi
    pip install --quiet "$@"
}
say "Installing $requirements."
install -r "$requirements"
install --no-deps -e .
# It asks for packages with which others here cannot work, so it gets them for itself.
case $requirements in
*test*) [ -d "$venv/share/cffconvert" ] || install --target "$venv/share/cffconvert" cffconvert==2.0.0 ;;
esac

# Once now, so that no notebook has 'building the font cache' among its outputs.
"$venv/bin/python" -W ignore -c 'import matplotlib.font_manager' 2>/dev/null || true
