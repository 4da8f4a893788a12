"""The filter of system calls, tried in a sandbox."""

import errno
import platform
import re
from pathlib import Path

import pytest
from submissions import CODE

from limetutor.classroom import sandbox, system_calls
from limetutor.classroom.marking import NotebookRun
from limetutor.classroom.sandbox import SandboxLimits, why_unavailable
from limetutor.classroom.system_calls import CLOSED, MACHINES, filter_program


def test_what_is_missing_is_said(monkeypatch):
    monkeypatch.setattr("os.getuid", lambda: 1000)
    for able in (True, False):
        monkeypatch.setattr(sandbox, "_can_disable_namespaces", lambda able=able: able)
        command = sandbox._bubblewrap(SandboxLimits())
        assert ("--disable-userns" in command) is able
        assert {f"--unshare-{kind}" for kind in ("net", "pid", "ipc", "uts")} <= {*command}
        assert ("cannot switch off user namespaces" in "".join(sandbox.weaknesses())) is not able
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert "not filtered on this kind of processor (riscv64)" in "".join(sandbox.weaknesses())


def test_numbers_are_those_of_the_kernel():
    """Of both machines, as the headers of Linux have them (Debian's linux-libc-dev)."""
    named = {"clone": system_calls.CLONE, "clone3": system_calls.CLONE3, "mmap": system_calls.MMAP}
    named |= {"socket": system_calls.SOCKET, "socketpair": system_calls.SOCKETPAIR, **CLOSED}
    headers = ("x86_64-linux-gnu/asm/unistd_64.h", "asm-generic/unistd.h")
    for column, header in enumerate(Path("/usr/include") / header for header in headers):
        if not header.exists():
            pytest.skip(f"{header} is not installed")
        text = re.sub(r"__NR3264_(\w+) (?=\d)", r"__NR_\1 ", header.read_text())
        numbers = {name: int(n) for name, n in re.findall(r"#define __NR_(\w+) (\d+)", text)}
        listed = {name: pair[column] for name, pair in named.items() if name in numbers}
        assert {name: numbers[name] for name in listed} == listed and len(listed) > 30


def test_in_a_sandbox_the_kernel_does_so_and_packages_work():
    if why := why_unavailable() or filter_program(platform.machine()) is None:
        pytest.skip(str(why))
    column = MACHINES[platform.machine()][1]
    numbers = [pair[column] for pair in CLOSED.values()], system_calls.CLONE[column]
    run = NotebookRun([f"NUMBERS, CLONE = {numbers}\n{CODE.TRIED}"], SandboxLimits(), {})
    try:
        found = run.ask(10, do="value", name="found")["value"]
    finally:
        run.close()
    assert {*found[0]} == {errno.EPERM} and found[1] == [1, 2, 10]
    assert found[2:] == [errno.EPERM, errno.ENOENT, "thread", 2]


def test_machines_and_flags_are_those_of_the_kernel():
    """linux/audit.h: a number of linux/elf-em.h, of 64 bits, little-endian; linux/sched.h."""
    assert MACHINES == {"x86_64": (62 | 3 << 30, 0), "aarch64": (183 | 3 << 30, 1)}
    flags = sum(1 << k for k in (17, *range(25, 31)))  # mount; cgroup, uts, ipc, user, pid, net
    assert flags == system_calls.NEW_NAMESPACES


def test_calls_of_later_kernels_have_one_number_on_all_processors():
    """From 424 on, as include/uapi/asm-generic/unistd.h has it."""
    later = {name: pair for name, pair in CLOSED.items() if max(pair) >= 424}
    assert len(later) >= 10 and all(first == second for first, second in later.values())
    assert all(len(set(column)) == len(CLOSED) for column in zip(*CLOSED.values(), strict=True))
