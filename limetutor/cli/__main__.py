"""`python -m limetutor.cli`."""

from . import main

if __name__ == "__main__":
    raise SystemExit(main())
