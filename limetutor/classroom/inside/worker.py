"""The worker of a notebook: executes cells, calls functions, returns plain values.

This file runs in a separate process, in a sandbox where there is one, and imports nothing of limetutor
but a stand-in. It knows no right value: the worst that a notebook can do to it is to spoil its own
answers. One line of JSON is a request or a reply, each with the number of the request.
"""

import base64
import builtins
import contextlib
import os
import signal
import sys
from importlib import import_module
from json import dumps, loads  # by name: a notebook may change the module
from typing import Any

MAX_ARRAY_BYTES = 4_000_000
MAX_ENTRIES = 100_000  # of a list


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
    for kind in (int, float, str):  # of a subclass only the plain value
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, np.ndarray):
        return _packed_array(value)
    if isinstance(value, list | tuple) and len(value) <= MAX_ENTRIES:
        return [packed(entry, depth + 1) for entry in value]
    if isinstance(value, dict) and len(value) <= MAX_ENTRIES:
        return {"dict": [[packed(k, depth + 1), packed(v, depth + 1)] for k, v in value.items()]}
    if type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "to_numpy"):
        return packed(value.to_numpy(), depth + 1)
    raise NotPlainError


def _packed_array(value: Any) -> Any:
    import numpy as np

    kind = value.dtype.kind
    if kind not in "biuf":
        return packed(value.tolist(), 1)
    plain = np.ascontiguousarray(value, {"b": "?", "f": "<f8"}.get(kind, "<i8"))
    if plain.nbytes > MAX_ARRAY_BYTES:
        raise NotPlainError
    data = base64.b64encode(plain.tobytes()).decode()
    return {"array": [plain.dtype.str, list(value.shape), data]}


def unpacked(data: Any) -> Any:
    """The value that was packed; a formula becomes a function."""
    import numpy as np

    if isinstance(data, list):
        return [unpacked(entry) for entry in data]
    if isinstance(data, dict):
        if "array" in data:
            dtype, shape, text = data["array"]
            return np.frombuffer(base64.b64decode(text), dtype).reshape(shape).copy()
        if "formula" in data:
            text, given = data["formula"]
            return eval(f"lambda x: {text}", {"np": np, **unpacked(given)})
        return {unpacked(key): unpacked(value) for key, value in data["dict"]}
    return data


def limit(memory: int, processes: int, user: int | None) -> None:
    """Set bounds for this process and all that it starts; give up the rights of root."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind in (resource.RLIMIT_CPU, resource.RLIMIT_DATA):  # those of who has started it
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (hard, hard))
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


class Notebook:
    """The names of a notebook as its cells run; their output is discarded."""

    def __init__(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "NoColor"
        self.shell = InteractiveShell.instance(config=config)
        self.shell.showtraceback = lambda *a, **k: None  # type: ignore[method-assign]
        self.shell.showsyntaxerror = lambda *a, **k: None  # type: ignore[method-assign]
        self._replace_interaction()

    def _replace_interaction(self) -> None:
        """Let shell commands, prompts and displays do nothing: there is no shell and no screen.

        In Jupyter none of them, even if it fails, stops the lines that follow.
        """
        import _sitebuiltins
        import cmd
        import code
        import pdb

        def pylab(gui: Any = None, import_all: bool = True, **named: Any) -> Any:
            from IPython.core.pylabtools import import_pylab

            import_pylab(self.shell.user_ns, import_all)
            return gui, "agg", []

        def nothing(*arguments: Any, **named: Any) -> None:
            """Nothing."""

        def end(*prompt: Any) -> None:
            raise EOFError

        vars(builtins).update(help=_sitebuiltins._Helper(), input=lambda *prompt: "")
        vars(cmd)["input"] = vars(code)["input"] = end  # debuggers and consoles would go on asking
        sys.breakpointhook = pdb.set_trace = nothing
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
        """Run a cell; raise what it raises."""
        result = self.shell.run_cell(code, store_history=False)
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            raise error

    def value(self, name: str) -> Any:
        """The value of a name."""
        if name not in self.shell.user_ns:
            raise LookupError(name)
        return self.shell.user_ns[name]

    def call(self, name: str, arguments: list[Any]) -> dict[str, Any]:
        """The value of a function, and whether it changed its arguments."""
        function = self.value(name)
        if not callable(function):
            raise LookupError(name)
        passed = [unpacked(argument) for argument in arguments]
        value = packed(function(*passed))
        changed = any(
            dumps(argument) != dumps(packed(after))
            for argument, after in zip(arguments, passed, strict=True)
            if not (isinstance(argument, dict) and "formula" in argument)
        )
        return {"value": value, "changed": changed}


def answer(notebook: Notebook, request: dict[str, Any]) -> dict[str, Any]:
    """The reply to a request; of an error only the name of its built-in kind."""
    try:
        if request["do"] == "cell":
            notebook.cell(request["code"])
            return {}
        if request["do"] == "value":
            return {"value": packed(notebook.value(request["name"]))}
        return notebook.call(request["name"], request["arguments"])
    except NotPlainError:
        return {"error": "not plain"}
    except LookupError as error:
        absent = error.args == (request.get("name"),) and type(error) is LookupError
        return {"error": "no such name" if absent else _kind(error)}
    except BaseException as error:
        return {"error": _kind(error)}


def _kind(error: BaseException) -> str:
    """The built-in kind that an error is of, never a name that a notebook chose."""
    for kind in type(error).__mro__:
        if getattr(builtins, kind.__name__, None) is kind:
            return kind.__name__
    return "Exception"


def clean_up() -> None:
    """Cancel alarms, so that none of one request goes off in the next, and reap children.

    A child that has ended counts as a process until it is reaped.
    """
    for timer in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"):
        if hasattr(signal, timer):
            signal.setitimer(getattr(signal, timer), 0)
    with contextlib.suppress(OSError, AttributeError):  # there is no child, or this is Windows
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def main() -> None:
    """Answer requests until there are no more."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    begin = loads(requests.readline())
    limit(begin["memory"], begin["processes"], begin["user"])
    os.chdir(begin["folder"])
    sys.path[:0] = begin["paths"]
    standin = import_module("limetutor.classroom")  # found in the folder standin
    vars(standin)["GIVEN"].update(unpacked(begin["given"]))
    notebook, pid = Notebook(), os.getpid()
    replies.write(dumps({"number": begin["number"]}).encode() + b"\n")
    replies.flush()
    for line in requests:
        clean_up()  # children killed by the grader since the last answer
        request = loads(line)
        number = {"number": request["number"]}
        reply = answer(notebook, request)
        if os.getpid() != pid:  # a child that the notebook has forked returns here too
            os._exit(0)
        clean_up()
        try:
            text = dumps(reply | number)
        except ValueError:  # a whole number with thousands of digits
            text = dumps({"error": "not plain"} | number)
        replies.write(text.encode() + b"\n")
        replies.flush()


if __name__ == "__main__":
    main()
