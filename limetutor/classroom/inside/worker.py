"""What runs beside a student's notebook: executes cells, calls functions, hands back plain values.

This file runs in a process of its own, in a sandbox where there is one, and imports nothing of limetutor
but a stand-in. It knows no right value: the worst that a notebook can do to it is to spoil its own
answers. One line of JSON comes in, one goes out, each with the number of its question.
"""

from __future__ import annotations

import base64
import builtins
import contextlib
import os
import signal
import sys
from importlib import import_module
from json import dumps, loads  # by name: a notebook may change the module
from typing import Any

LARGEST = 4_000_000  # bytes of an array that may leave
MANY = 100_000  # entries of a list


# --- plain values ------------------------------------------------------------------------------


class NotPlainError(TypeError):
    """A value that is neither numbers nor text."""


def packed(value: Any, depth: int = 0) -> Any:
    """A value as JSON; NotPlainError for anything but numbers, text, arrays and lists of them."""
    import numpy as np

    if depth > 8:
        raise NotPlainError
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, list | tuple) and len(value) <= MANY:
        return [packed(entry, depth + 1) for entry in value]
    if isinstance(value, dict) and len(value) <= MANY:
        return {"dict": [[packed(k, depth + 1), packed(v, depth + 1)] for k, v in value.items()]}
    if type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "to_numpy"):
        return packed(value.to_numpy(), depth + 1)
    raise NotPlainError


def _array(value: Any) -> Any:
    import numpy as np

    kind = value.dtype.kind
    if kind not in "biuf":
        return packed(value.tolist(), 1)
    plain = np.ascontiguousarray(value, {"b": "?", "f": "<f8"}.get(kind, "<i8"))
    if plain.nbytes > LARGEST:
        raise NotPlainError
    data = base64.b64encode(plain.tobytes()).decode()
    return {"array": [plain.dtype.str, list(value.shape), data]}


def unpacked(sent: Any) -> Any:
    """What was packed; a formula becomes a function."""
    import numpy as np

    if isinstance(sent, list):
        return [unpacked(entry) for entry in sent]
    if isinstance(sent, dict):
        if "array" in sent:
            dtype, shape, data = sent["array"]
            return np.frombuffer(base64.b64decode(data), dtype).reshape(shape).copy()
        if "formula" in sent:
            text, given = sent["formula"]
            scope = {"np": np, **unpacked(given)}
            return eval(f"lambda x: {text}", scope)
        return {unpacked(key): unpacked(value) for key, value in sent["dict"]}
    return sent


# --- limits ------------------------------------------------------------------------------------


def limit(memory: int, processes: int, user: int | None) -> None:
    """Bounds that hold for this process and all that it starts; no longer root, if it was."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for name, most in {
        "RLIMIT_AS": memory,
        "RLIMIT_NPROC": processes,
        "RLIMIT_FSIZE": 2**28,
        "RLIMIT_NOFILE": 256,
        "RLIMIT_CORE": 0,
    }.items():
        if most is not None and hasattr(resource, name):
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(getattr(resource, name), (most, most))
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)


# --- the notebook ------------------------------------------------------------------------------


class Notebook:
    """The names of a notebook as its cells run; nothing that they print goes anywhere."""

    def __init__(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "NoColor"
        self.shell = InteractiveShell.instance(config=config)
        self.shell.showtraceback = lambda *a, **k: None  # type: ignore[method-assign]
        self.shell.showsyntaxerror = lambda *a, **k: None  # type: ignore[method-assign]
        self._at_home()

    def _at_home(self) -> None:
        """What is said in passing in a notebook, and must not end its cell: there is no shell and no screen.

        In Jupyter neither a command that fails nor a way to show figures stops the lines that follow.
        """
        import _sitebuiltins

        def pylab(gui: Any = None, import_all: bool = True, **named: Any) -> Any:
            from IPython.core.pylabtools import import_pylab

            import_pylab(self.shell.user_ns, import_all)
            return gui, "agg", []

        def nothing(*arguments: Any, **named: Any) -> None:
            """Nothing."""

        vars(builtins).update(help=_sitebuiltins._Helper(), input=lambda *prompt: "")
        sys.breakpointhook = nothing
        self.shell.user_ns |= {"exit": nothing, "quit": nothing}
        replaced = {
            "system": nothing,
            "getoutput": lambda *a, **k: [],
            "enable_gui": nothing,
            "enable_matplotlib": lambda gui=None: (gui, "agg"),
            "enable_pylab": pylab,
        }
        vars(self.shell).update(replaced)

    def cell(self, code: str) -> None:
        """Run a cell; what it raises is raised."""
        done = self.shell.run_cell(code, store_history=False)
        error = done.error_before_exec or done.error_in_exec
        if error is not None:
            raise error

    def value(self, name: str) -> Any:
        """What a name stands for."""
        if name not in self.shell.user_ns:
            raise LookupError(name)
        return self.shell.user_ns[name]

    def call(self, name: str, arguments: list[Any]) -> dict[str, Any]:
        """What a function returns, and whether it changed what it was given."""
        function = self.value(name)
        if not callable(function):
            raise LookupError(name)
        before = [dumps(a) for a in arguments if not _is_formula(a)]
        passed = [unpacked(a) for a in arguments]
        value = packed(function(*passed))
        after = [
            dumps(packed(p)) for a, p in zip(arguments, passed, strict=True) if not _is_formula(a)
        ]
        return {"value": value, "changed": before != after}


def _is_formula(argument: Any) -> bool:
    return isinstance(argument, dict) and "formula" in argument


def answer(notebook: Notebook, asked: dict[str, Any]) -> dict[str, Any]:
    """Do one thing; an error is told by the name of its kind only."""
    try:
        if asked["do"] == "cell":
            notebook.cell(asked["code"])
            return {}
        if asked["do"] == "value":
            return {"value": packed(notebook.value(asked["name"]))}
        return notebook.call(asked["name"], asked["arguments"])
    except NotPlainError:
        return {"error": "not plain"}
    except LookupError as error:
        absent = error.args == (asked.get("name"),) and type(error) is LookupError
        return {"error": "no such name" if absent else _kind(error)}
    except BaseException as error:
        return {"error": _kind(error)}


def _kind(error: BaseException) -> str:
    """The built-in kind that an error is of, never a name that a notebook chose."""
    for kind in type(error).__mro__:
        if getattr(builtins, kind.__name__, None) is kind:
            return kind.__name__
    return "Exception"


def rest() -> None:
    """No alarm of one cell or question goes off in the next one.

    Children that have ended are let go of: each counts as a process until somebody asks for it.
    """
    for clock in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"):
        if hasattr(signal, clock):
            signal.setitimer(getattr(signal, clock), 0)
    with contextlib.suppress(OSError, AttributeError):  # there is none, or this is Windows
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def main() -> None:
    """Answer until the other side hangs up."""
    heard, told = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    begin = loads(heard.readline())
    limit(begin["memory"], begin["processes"], begin["user"])
    os.chdir(begin["folder"])
    sys.path[:0] = begin["paths"]
    standin = import_module("limetutor.classroom")  # the stand-in for it
    vars(standin)["GIVEN"].update(unpacked(begin["given"]))
    notebook, own = Notebook(), os.getpid()
    told.write(dumps({"number": begin["number"]}).encode() + b"\n")
    told.flush()
    for line in heard:
        rest()  # from what was killed outside, since the last answer
        asked = loads(line)
        number = {"number": asked["number"]}
        reply = answer(notebook, asked)
        if os.getpid() != own:  # a child that the notebook has forked comes back here
            os._exit(0)
        rest()
        try:
            text = dumps(reply | number)
        except ValueError:  # a whole number with thousands of digits
            text = dumps({"error": "not plain"} | number)
        told.write(text.encode() + b"\n")
        told.flush()


if __name__ == "__main__":
    main()
