"""What is measured of the processes of a notebook."""

import os

from limetutor.classroom.processes import _cpu_seconds


def test_a_process_that_has_ended_uses_nothing_any_more():
    assert _cpu_seconds(os.getpid()) > 0
    assert _cpu_seconds(2**22 + 1) == 0  # beyond all numbers that Linux gives
