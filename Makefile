# make book   make an environment, build the book and serve it
# make test   make an environment and run everything that must hold
# make help   the rest

VENV   ?= .venv
JOBS   ?= auto
PORT   ?=
BIN    := $(VENV)/bin
SITE   := _build/html

# The name of the environment as make writes targets: VENV="my venv" has a space in it.
empty  :=
ENV    := $(subst $(empty) ,\ ,$(VENV))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help book html pdf serve lighthouse formulas lab class test environment programs lint unit site notebooks \
    coverage verify mutants bench oldest linkcheck format lock clean distclean

help:  ## this list
	@grep -hE '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 20

book: $(ENV)/.book  ## build the book and serve it on this machine
	@"$(BIN)/python" tools/serve.py --check $(if $(PORT),"$(PORT)")
	@$(MAKE) --no-print-directory html
	@$(MAKE) --no-print-directory serve

serve:  # what make html has built
	@"$(BIN)/python" tools/serve.py "$(SITE)" $(if $(PORT),"$(PORT)")

# Sphinx warns while it reads a page, and reads only changed pages: after a failed build it must
# forget what it has read, or the next build would pass, and the words it has listed for the search,
# or they would stay. (That a change of the package executes every chapter anew is the work of
# book/_ext.)
html: $(ENV)/.book  ## build the book into _build/html
	@"$(BIN)/jupyter-book" build . -W -n --keep-going || { \
	    rm -rf _build/.doctrees "$(SITE)/searchindex.js" "$(SITE)/.built"; exit 1; }

# Made from the built site by a browser, and then linked on every page; the next make html removes it again.
pdf: $(ENV)/.test  ## print the built book to _build/html/limetutor.pdf and link it from the site
	@test -e "$(SITE)/.built" || $(MAKE) --no-print-directory html
	@chrome="$$(sh tools/browser.sh)" && "$(BIN)/python" tools/pdf.py "$(SITE)" "$$chrome"

lighthouse: $(ENV)/.test  ## Lighthouse on the built site, median of five (needs Node and the network)
	@chrome="$$(sh tools/browser.sh)" && "$(BIN)/python" tools/lighthouse.py "$(SITE)" "$$chrome"

formulas: $(ENV)/.test  ## every formula of the built site beside MathJax's, as pictures in _build/formulas
	@chrome="$$(sh tools/browser.sh)" && "$(BIN)/python" tools/formulas.py "$(SITE)" _build/formulas "$$chrome"

lab: $(ENV)/.book  ## open the chapters in JupyterLab
	@"$(BIN)/jupyter" lab --ServerApp.root_dir=book \
	    $$(test "$$(id -u)" != 0 || echo --allow-root)

# Where images of containers forbid it, each of some hundred processes would compile all it imports.
unexport PYTHONDONTWRITEBYTECODE

# nbgrader and bubblewrap, which the book does not need.
class: $(ENV)/.book  ## write the assignments for students and teachers into _build/class
	@"$(BIN)/python" -m pip --disable-pip-version-check install --quiet -e '.[class]' -c requirements-test.txt
	@sh tools/sandbox.sh
	@"$(BIN)/limetutor" class release --out _build/class/students
	@"$(BIN)/limetutor" class solution --out _build/class/teachers

# One numerical thread a process: the processes already fill the cores. (The third is what LightGBM asks.)
test lint unit site notebooks verify mutants bench oldest: export OMP_NUM_THREADS = 1
test lint unit site notebooks verify mutants bench oldest: export OPENBLAS_NUM_THREADS = 1
test lint unit site notebooks verify mutants bench oldest: export LOKY_MAX_CPU_COUNT = 1

# Every process imports all tests it may run, and the plugins: nbval is for the chapters alone.
PYTEST = mkdir -p _build && nice -n $(NICE) env CHROME="$$(sh tools/browser.sh)" "$(BIN)/python" -m slipcover --json --out _build/covered-$@.json \
    -m pytest -p no:nbval -n $(JOBS) --dist worksteal

# All at once, so that no core waits: pages are looked at as soon as they are built, and the rest fills in.
# First come the programs, since the book prints its handout with the browser.
test:  ## run everything: lint, notebooks, unit tests, site, coverage
	@$(MAKE) --no-print-directory -j2 environment programs
	@$(MAKE) --no-print-directory -j4 lint site notebooks unit
	@$(MAKE) --no-print-directory coverage

environment: $(ENV)/.test

programs:  # a browser, and the sandbox for students' code
	@sh tools/browser.sh >/dev/null
	@sh tools/sandbox.sh

lint: $(ENV)/.test  ## ruff, mypy, which folder imports which, nothing written twice; check only
	@"$(BIN)/ruff" check .
	@"$(BIN)/ruff" format --check .
	@"$(BIN)/mypy" limetutor
	@"$(BIN)/lint-imports" --no-cache --no-logo
	@"$(BIN)/pylint" limetutor

# What looks at pages goes first: it had to wait for them.
unit: NICE = 10
unit: $(ENV)/.test programs  ## tests/, but for those that look at the built site
	@$(PYTEST) tests -m "not site"

site: NICE = 0
site: $(ENV)/.test html programs  ## those that look at what make html built
	@$(PYTEST) tests/site -m site

# The chapters run as copies with a cell behind each number and each solution that checks it.
# A notebook has one kernel, so all of its cells go to one worker.
notebooks: $(ENV)/.test  ## execute every chapter, compare outputs, check numbers and solutions
	@"$(BIN)/python" tools/promises.py book _build/promised
	@nice -n 10 "$(BIN)/python" -m pytest --nbval _build/promised -n $(JOBS) --dist loadfile

coverage: $(ENV)/.test  # of the last make unit and make site
	@"$(BIN)/slipcover" --merge _build/covered-*.json --out _build/covered.json \
	    --skip-covered --fail-under 95

# Long comparisons; make test runs a sample of each. Stated with version, day and machine.
verify: $(ENV)/.peers  ## run the long comparisons whole, write what they found to docs/verified.md
	@sh tools/sandbox.sh
	@chrome="$$(sh tools/browser.sh)" && CHROME="$$chrome" LIMETUTOR_VERIFY=1 \
	    "$(BIN)/python" -m pytest tests -m verify -n $(JOBS) --dist worksteal \
	    --timeout 7200 --verified docs/verified.md

# Some hours. A sample drawn by SEED, in copies of the project under _build/mutants.
COUNT ?= 120
SEED  ?= 20261118
mutants: $(ENV)/.test html programs  ## plant single mistakes and print those that no test notices
	@nice -n 10 env CHROME="$$(sh tools/browser.sh)" "$(BIN)/python" tools/mutants.py $(COUNT) $(SEED)

# Ratios within one run, with the machine they were taken on; a small size runs in make unit.
bench: $(ENV)/.bench  ## measure speed and model calls, write the table and pictures of benchmarks/results
	@"$(BIN)/python" benchmarks/run.py

# In an environment of its own. Other packages that tests import are the newest that fit.
OLDEST = _build/oldest
oldest: $(ENV)/.test  ## run the package's tests with the oldest packages that are allowed (needs the network)
	@"$(BIN)/uv" venv --quiet --clear --python "$(BIN)/python" $(OLDEST)
	@"$(BIN)/uv" pip install --quiet --python $(OLDEST) --resolution lowest-direct -e '.[plot,lime]'
	@"$(BIN)/uv" pip install --quiet --python $(OLDEST) hypothesis ipywidgets mpmath polars pytest pytest-timeout xgboost-cpu
	@$(OLDEST)/bin/python -m pytest tests/core tests/inputs tests/precision tests/many tests/bandwidth tests/lime \
	    -m "not slow and not verify" -W "ignore::DeprecationWarning"

linkcheck: $(ENV)/.book  ## follow the links to other sites (needs the network)
	@"$(BIN)/jupyter-book" build . --builder linkcheck --path-output _build/links

format: $(ENV)/.test  ## put code into shape
	@"$(BIN)/ruff" check --fix .
	@"$(BIN)/ruff" format .

COMPILE = "$(BIN)/uv" pip compile --quiet pyproject.toml --universal --python-version 3.11 \
    --annotation-style line --custom-compile-command "make lock"

lock: $(ENV)/.book  ## write the pins from pyproject.toml, keeping those that still fit
	@$(COMPILE) --extra book --extra lab $(UPGRADE) -o requirements.txt
	@$(COMPILE) --extra test $(UPGRADE) -c requirements.txt -o requirements-test.txt

# The environment. The pins for the tests include those for the book.
$(ENV)/.book: requirements.txt pyproject.toml tools/setup.sh
	@sh tools/setup.sh "$(VENV)" requirements.txt
	@touch "$@"

$(ENV)/.test: requirements-test.txt requirements.txt pyproject.toml tools/setup.sh
	@sh tools/setup.sh "$(VENV)" requirements-test.txt
	@touch "$@" "$(VENV)/.book"

# shap, with its compiler, is too heavy for every run of the tests.
$(ENV)/.bench: $(ENV)/.test
	@"$(BIN)/python" -m pip --disable-pip-version-check install --quiet -e '.[bench]' -c requirements-test.txt
	@touch "$@"

# Other packages whose numbers those of lt.cube are compared with.
$(ENV)/.peers: $(ENV)/.bench
	@"$(BIN)/python" -m pip --disable-pip-version-check install --quiet -e '.[peers]' -c requirements-test.txt
	@"$(BIN)/python" -m pip --disable-pip-version-check install --quiet --no-deps anchor-exp==0.0.2.0
	@touch "$@"

clean:  ## remove what builds and tests left behind
	@rm -rf _build .pytest_cache .ruff_cache .mypy_cache .hypothesis *.egg-info build
	@find limetutor tests book tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean  ## ... and the environment
	@rm -rf "$(VENV)"
