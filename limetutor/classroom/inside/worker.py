"""The worker of a notebook: executes cells, calls functions, returns plain values.

What a notebook may ask of its grader, the numbers of a student and, when a question is judged again, answers of
earlier questions, goes out as such a value too (:class:`Outside`).

This file runs in a separate process, in a sandbox where there is one, and imports nothing of limetutor
but a stand-in. It knows no right value: the worst that a notebook can do to it is to spoil its own
answers. One line of JSON is a request or a reply, each with the number of the request.
"""

import ast
import base64
import builtins
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
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


class Outside:
    """What is asked of the grader while it waits for the reply to a request: values go out, a value comes in."""

    def __init__(self, requests: Any, send: Callable[[dict[str, Any]], None]) -> None:
        self._requests, self._send = requests, send
        self._one_at_a_time, self._pid = threading.RLock(), os.getpid()
        self.number: int | None = None  # of the request; None between two of them

    def ask(self, name: str, *arguments: Any, **named: Any) -> Any:
        """The value that a function of the grader gives; functions among the arguments are called in here."""
        with self._one_at_a_time:
            if self.number is None or os.getpid() != self._pid:
                raise RuntimeError(
                    f"{name} can be called by the notebook alone, while it is asked."
                )
            functions = [value for value in arguments if callable(value)]
            shown = [
                {"function": functions.index(v)} if callable(v) else packed(v) for v in arguments
            ]
            named = {key: packed(value) for key, value in named.items()}
            self._send({"number": self.number, "asked": name, "arguments": shown, "named": named})
            while True:
                reply = loads(self._requests.readline())
                if "evaluate" not in reply:
                    break
                try:
                    called = functions[reply["evaluate"]]
                    found = {"evaluated": packed(called(*unpacked(reply["arguments"])))}
                except Exception:
                    found = {"evaluated": None}
                self._send({"number": self.number} | found)
            if "error" in reply:
                raise RuntimeError(f"{name} was not answered: {reply['error']}.")
            return unpacked(reply["answer"])

    def named(self, name: str) -> Callable[..., Any]:
        """A function of the grader, as the notebook calls it."""
        return lambda *arguments, **named: self.ask(name, *arguments, **named)


DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _is_definition(statement: ast.stmt) -> bool:
    """Whether a statement only imports or defines something."""
    is_lambda = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda)
    return is_lambda or isinstance(statement, DEFINITIONS)


class Notebook:
    """The names of a notebook as its cells run; their output is discarded.

    The names in ``replaced`` are functions of the grader, whatever the notebook defines.
    """

    def __init__(self, replaced: dict[str, Callable[..., Any]]) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        self._replaced = replaced
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

    def cell(self, code: str, definitions: bool) -> None:
        """Run a cell, or only its definitions; raise what it raises first.

        It runs statement by statement, so that one that fails, such as an import, costs only what needs it.
        """
        errors = []
        for statement in self._statements(code, definitions):
            result = self.shell.run_cell(statement, store_history=False)
            self.shell.user_ns |= self._replaced
            errors += [error for error in (result.error_before_exec, result.error_in_exec) if error]
        if errors:
            raise errors[0]

    def _statements(self, code: str, definitions: bool) -> list[str]:
        """The statements of a cell; the cell itself if it cannot be read."""
        try:
            body = ast.parse(self.shell.transform_cell(code)).body
            return [ast.unparse(s) for s in body if _is_definition(s) or not definitions]
        except Exception:
            return [code]

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
            notebook.cell(request["code"], request.get("definitions", False))
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
    """The built-in kind that an error is of, never a name that a notebook chose; or that limetutor is not here."""
    if type(error).__name__ == "AbsentError":
        return "AbsentError"
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

    def send(message: dict[str, Any]) -> None:
        replies.write(dumps(message).encode() + b"\n")
        replies.flush()

    outside = Outside(requests, send)
    vars(import_module("limetutor.classroom"))["ask"] = outside.ask  # found in the folder standin
    notebook = Notebook({name: outside.named(name) for name in begin["replaced"]})
    pid = os.getpid()
    send({"number": begin["number"]})
    for line in requests:
        clean_up()  # children killed by the grader since the last answer
        request = loads(line)
        number = {"number": request["number"]}
        outside.number = request["number"]
        reply = answer(notebook, request)
        outside.number = None
        if os.getpid() != pid:  # a child that the notebook has forked returns here too
            os._exit(0)
        clean_up()
        try:
            send(reply | number)
        except ValueError:  # a whole number with thousands of digits
            send({"error": "not plain"} | number)


if __name__ == "__main__":
    main()
