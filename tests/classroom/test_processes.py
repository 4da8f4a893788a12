"""What is measured of the processes of a notebook."""

import os

from limetutor.classroom.processes import _cpu_seconds, _listed_tree


def test_a_process_that_has_ended_uses_nothing_any_more():
    assert _cpu_seconds(os.getpid()) > 0
    assert _cpu_seconds(2**22 + 1) == 0  # beyond all numbers that Linux gives


def test_without_a_process_to_begin_with_there_is_no_tree():
    """Number 0 stands for none, and is the parent of all others."""
    assert _listed_tree(0) == {} and os.getpid() in _listed_tree(os.getppid())
