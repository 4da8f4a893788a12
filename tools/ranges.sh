#!/bin/sh
# Run the package's tests apart from the book's pins: with the oldest packages that pyproject.toml allows (those of the
# command apart from those of the package), or with the newest, whose warnings are errors.
# Usage: tools/ranges.sh UV PYTHON oldest|oldest-cli|newest
set -eu
uv=$1 python=$2 which=$3
home=_build/ranges/$python-$which
# What tests import beside it: the newest that fit.
tools="axe-playwright-python hypothesis ipywidgets mpmath playwright polars pytest pytest-timeout pytest-xdist xgboost-cpu"
package="tests/core tests/inputs tests/results tests/precision tests/exact tests/many tests/switches tests/lime
    tests/bandwidth tests/auditing tests/plotting"

case $which in
oldest) extras=plot,lime oldest=1 tests=$package ;;
oldest-cli) extras=cli,lime oldest=1 tests=tests/cli ;;
newest)
    extras=plot,lime,cli,class,chapters oldest=
    tests="$package tests/cli tests/course tests/interactive tests/classroom"
    tools="$tools catboost distributed lightgbm"
    ;;
*) exit 2 ;;
esac

for bin in "${PYENV_ROOT:-$HOME/.pyenv}/versions/$python".*/bin; do # where pyenv has it
    [ ! -d "$bin" ] || PATH=$bin:$PATH
done
"$uv" venv --quiet --clear --python "$python" "$home"
install() { "$uv" pip install --quiet --python "$home/bin/python" "$@"; }
install ${oldest:+--resolution lowest-direct} -e ".[$extras]"
install $tools
"$uv" pip list --quiet --python "$home/bin/python" | grep -E "^(numpy|scipy|pandas|scikit-learn|matplotlib|lime|skops) "
# Old packages use what newer ones deprecate.
exec "$home/bin/python" -m pytest $tests -q -m "not slow and not verify and not browser and not lab and not site" \
    -p no:cacheprovider -n "${JOBS:-auto}" --dist worksteal \
    ${oldest:+-W ignore::DeprecationWarning -W ignore::FutureWarning}
