"""Make `pytest --nbval --cov` count what notebook kernels run, under pytest-xdist too."""

from __future__ import annotations

# nbval lets a kernel write its coverage into the data file of the pytest process that started it.
# A process of pytest-xdist then overwrites that file with its own, and what the kernel ran is lost.
# Here each kernel writes a file of its own, and pytest-cov combines them all at the end.
IN_KERNEL = """\
import coverage
__cov = coverage.Coverage(data_file=%r, source=%r, config_file=%r, data_suffix=True)
__cov._warn_no_data = False
__cov._warn_unimported_source = False
__cov.start()
"""


def pytest_configure() -> None:
    """Replace what nbval sends to a kernel when coverage is asked for."""
    try:
        from nbval import _cover5
    except ImportError:
        return
    _cover5._python_setup = IN_KERNEL
