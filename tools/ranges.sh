#!/bin/sh
# Run the package's tests apart from the book's pins: with the oldest packages that pyproject.toml allows, or with the
# newest, whose warnings are errors. Usage: tools/ranges.sh UV PYTHON oldest|newest
set -eu
uv=$1 python=$2 which=$3
home=_build/ranges/$python-$which
tools="hypothesis ipywidgets mpmath polars pytest pytest-timeout pytest-xdist xgboost-cpu lightgbm catboost distributed"
tests="tests/core tests/inputs tests/results tests/precision tests/exact tests/many tests/switches tests/lime
    tests/bandwidth tests/auditing tests/plotting tests/cli"

for bin in "${PYENV_ROOT:-$HOME/.pyenv}/versions/$python".*/bin; do # where pyenv has it
    [ ! -d "$bin" ] || PATH=$bin:$PATH
done
"$uv" venv --quiet --clear --python "$python" "$home"
install() { "$uv" pip install --quiet --python "$home/bin/python" "$@"; }
case $which in
oldest) # other packages that the tests import are the newest that fit
    install --resolution lowest-direct -e '.[plot,lime,cli]'
    set -- -W "ignore::DeprecationWarning" -W "ignore::FutureWarning"
    ;;
newest)
    install --upgrade -e '.[plot,lime,cli,class,chapters]'
    tests="$tests tests/course tests/interactive tests/classroom"
    set --
    ;;
esac
install $tools
"$uv" pip list --quiet --python "$home/bin/python" | grep -E "^(numpy|scipy|pandas|scikit-learn|matplotlib|lime|skops) "
exec "$home/bin/python" -m pytest $tests -q -m "not slow and not verify and not browser and not lab and not site" \
    -p no:cacheprovider -n "${JOBS:-auto}" --dist worksteal "$@"
