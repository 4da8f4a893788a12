"""The system calls that a sandbox refuses, as a seccomp filter.

No interpreter and no package for numbers needs these calls; most exploits of the Linux kernel do, and some give memory
that no process is seen to hold. The filter is a program of the classic BPF machine, in the bytes that
``bwrap --seccomp`` reads (https://docs.kernel.org/userspace-api/seccomp_filter.html).
"""

import errno
import struct

#: Numbers on x86-64 and on 64-bit ARM (arch/x86/entry/syscalls, include/uapi/asm-generic/unistd.h).
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # as in linux/audit.h; a column
CLOSED = {
    # other namespaces and file systems
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "open_by_handle_at": (304, 265),
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    # much of the kernel, or the kernel itself
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "fanotify_init": (300, 262), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "personality": (135, 92), "modify_ldt": (154, 244),  # 64-bit ARM has none, and nothing at 244
    # memory that stays though no process maps it
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "vmsplice": (278, 75),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
}  # fmt: skip
CLONE, CLONE3 = (56, 220), (435, 435)
SOCKET, SOCKETPAIR = (41, 198), (53, 199)
MMAP = (9, 222)
FIRST_UNKNOWN = 450  # later calls, and those of x32, do not exist here

NEW_NAMESPACES = 0x7E020000  # flags of clone: CLONE_NEWNS and the other kinds
FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6
SHARED_ANONYMOUS = 0x21  # flags of mmap: MAP_SHARED, MAP_ANONYMOUS

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT = 0x15, 0x35, 0x45
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data

_Code = list[tuple[int, int, int, int]]  # an operation, two jumps (if, if not) and a constant


def _fails(error: int) -> _Code:
    return [(_RETURN, 0, 0, _FAIL | error)]


def _where(test: int, constant: int, then: _Code) -> _Code:
    """Some code, skipped unless the test holds for what was loaded."""
    return [(test, 0, len(then), constant), *then]


def _argument(position: int) -> _Code:
    """Load the low half of an argument of the call (both machines are little-endian)."""
    return [(_LOAD, 0, 0, _ARGUMENTS + 8 * position)]


def filter_program(machine: str) -> bytes | None:
    """The filter for a kind of processor, as ``platform.machine()`` names it; None if it is not known."""
    if machine not in MACHINES:
        return None
    architecture, column = MACHINES[machine]
    allow: _Code = [(_RETURN, 0, 0, _ALLOW)]
    program: _Code = [(_LOAD, 0, 0, _ARCHITECTURE), (_IF_EQUAL, 1, 0, architecture)]
    program += [*_fails(errno.EPERM), (_LOAD, 0, 0, _NUMBER)]
    program += _where(_IF_AT_LEAST, FIRST_UNKNOWN, _fails(errno.ENOSYS))
    # its flags are in memory, where a filter cannot look; without it libraries call clone
    program += _where(_IF_EQUAL, CLONE3[column], _fails(errno.ENOSYS))
    for numbers in CLOSED.values():
        program += _where(_IF_EQUAL, numbers[column], _fails(errno.EPERM))
    spaces = _where(_IF_ANY_BIT, NEW_NAMESPACES, _fails(errno.EPERM))
    program += _where(_IF_EQUAL, CLONE[column], [*_argument(0), *spaces, *allow])
    known = [step for family in FAMILIES for step in _where(_IF_EQUAL, family, allow)]
    for call in (SOCKET, SOCKETPAIR):
        family = [*_argument(0), *known, *_fails(errno.EAFNOSUPPORT)]
        program += _where(_IF_EQUAL, call[column], family)
    shared = _where(_IF_EQUAL, SHARED_ANONYMOUS, _fails(errno.EPERM))
    flags: _Code = [*_argument(3), (_AND, 0, 0, SHARED_ANONYMOUS)]
    program += _where(_IF_EQUAL, MMAP[column], [*flags, *shared])
    program += allow
    return b"".join(struct.pack("<HBBI", *step) for step in program)
