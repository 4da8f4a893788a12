"""Models in skops files: what a file names is compared with a list before anything is made of it.

The file is read into memory, its nodes are compared with :mod:`limetutor.cli.model_types`, and skops
gets a copy that holds what was compared and nothing else: no second member of the same name, no node
that refers to another one. The arrays that compiled code would follow blindly are checked as well, by
:mod:`limetutor.cli.fitted_arrays`.
"""

import json
import re
import warnings
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

from ..inputs.warning_classes import LimetutorWarning
from ..plotting.files import place
from . import fitted_arrays
from .archives import MAX_BYTES, array_of, members, most_bytes
from .model_types import CHECK_ARRAY, FITTING_NAMES, FITTING_NODES, trusted_types
from .options import PICKLE
from .refusals import refuse

SCHEMA = "schema.json"
MAX_ENTRIES = 2_000_000  # of the schema: brackets and commas, of which a tree takes about 400
MAX_LETTERS = 2**27  # of the schema, of which an entry takes about 45
MAX_DEPTH = 150  # of brackets; a pipeline in a pipeline takes seven
MAX_SPARSE = 1000  # sparse matrices, each an archive of its own
LIST = 9  # bytes for each byte of a bytearray, of which skops makes a list
NAME = re.compile(r"(?!.{201})[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
NONE = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "null"}


def read_model(name: str, trust: list[str], unsafe_pickle: bool = False) -> Any:
    """The model in a skops file; in a pickle only if that is allowed."""
    path = place("model", name)
    if not path.is_file():
        refuse(f"model must be a file, but there is none at {name!r}.")
    if path.stat().st_size > MAX_BYTES:
        refuse(f"model must be a file of at most {MAX_BYTES / 2**30:g} GiB.")
    if not zipfile.is_zipfile(path):
        if unsafe_pickle:
            return _unpickled(path)
        refuse(f"model must be a skops file, but {name!r} is not one. {PICKLE}.")
    try:
        from skops import io
    except ImportError:
        raise ImportError(
            "reading models needs skops; install it with pip install 'limetutor[cli]'."
        ) from None
    checked = CheckedFile(members(path, "model"), trust, most_bytes(path))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = io.load(checked.copy(), trusted=sorted(checked.names))
    except Exception as error:  # of whichever class in the file
        words = " ".join(str(error).split())[:200].rstrip(".")
        refuse(f"model cannot be made from its file ({type(error).__name__}: {words}).")
    for warning in caught:
        version = getattr(warning.message, "original_sklearn_version", None)
        if version is not None:
            here = getattr(warning.message, "current_sklearn_version", None)
            version = " ".join(str(version).split())[:20]
            words = (
                f"model was saved by scikit-learn {version} and is read by {here}: it may predict "
            )
            warnings.warn(f"{words}something else.", LimetutorWarning, stacklevel=2)
            break
    fitted_arrays.check(model)
    return model


def _unpickled(path: Path) -> Any:
    try:
        import joblib as reader
    except ImportError:
        import pickle

        return pickle.loads(path.read_bytes())
    return reader.load(path)


class CheckedFile:
    """The parts of a skops file, all of which were compared with what a file may hold."""

    def __init__(self, content: dict[str, bytes], trust: list[str], most: int = MAX_BYTES) -> None:
        self.names: set[str] = set()
        self._content, self._trust, self._kept = content, trust, dict[str, bytes]()
        self._most, self._bytes, self._sparse = most, 0, 0
        self._unknown: dict[str, None] = {}  # names, in the order of the file
        schema = _parsed(content[SCHEMA], "model") if SCHEMA in content else None
        if not (isinstance(schema, dict) and "__loader__" in schema):
            refuse(f"model must be a skops file, but its archive has no {SCHEMA} of a model.")
        self.schema = self._cleaned(schema, 0)
        if self._unknown:
            self._refuse_unknown()

    def copy(self) -> BytesIO:
        """A skops file of the parts that were compared."""
        buffer = BytesIO()
        with zipfile.ZipFile(buffer, "w") as file:
            file.writestr(SCHEMA, json.dumps(self.schema))
            for name, content in self._kept.items():
                file.writestr(name, content)
        buffer.seek(0)
        return buffer

    def _refuse_unknown(self) -> None:
        unknown = list(self._unknown)
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        flags = " ".join(f"--trust {name}" for name in unknown[:3])
        refuse(
            f"model holds types that are read only if you name them, {', '.join(unknown[:3])}{more}: "
            "they may run code or crash as they are read, so only if you trust the file like your own "
            f"programs pass {flags}."
        )

    def _cleaned(self, part: Any, depth: int) -> Any:
        """A part of the schema without what refers to other parts."""
        if depth > MAX_DEPTH:
            refuse(f"model must be nested at most {MAX_DEPTH} deep.")
        if isinstance(part, list):
            return [self._cleaned(entry, depth + 1) for entry in part]
        if not isinstance(part, dict):
            return part
        if "__loader__" in part:
            return self._node(part, depth)
        return {key: self._cleaned(entry, depth + 1) for key, entry in part.items()}

    def _node(self, node: dict[str, Any], depth: int) -> dict[str, Any]:
        kind, module, name = (node.get(key) for key in ("__loader__", "__module__", "__class__"))
        full = f"{module}.{name}"
        if not (isinstance(kind, str) and NAME.fullmatch(full)) or "." in str(name):
            refuse("model is damaged (a node without a name).")
        if kind in FITTING_NODES or full in FITTING_NAMES:
            return NONE
        self._compare(kind, full, node)
        kept = {
            key: self._cleaned(part, depth + 1) for key, part in node.items() if key != "__id__"
        }
        if kind == "FunctionNode" and "content" in node:
            # both versions of the format read this name
            kept["__module__"], kept["__class__"] = map(
                _content(node).get, ("module_path", "function")
            )
        if "file" in node:
            kept["file"] = self._member(kind, node["file"])
        if kind == "JsonNode":
            _parsed(kept.get("content"), "model")
        if kind == "TreeNode":
            fitted_arrays.check_tree_node(kept, self._value)
        return kept

    def _compare(self, kind: str, full: str, node: dict[str, Any]) -> None:
        """Note the name of a node, and whether it is one that must be named by the user."""
        if kind == "JsonNode":  # numbers and texts, whatever they are called
            return
        if kind == "MethodNode":
            full += f".{_content(node).get('func')}"
        if kind == "FunctionNode" and "content" in node:  # of the first version of the format
            full = ".".join(str(_content(node).get(key)) for key in ("module_path", "function"))
        if not NAME.fullmatch(full):
            refuse("model is damaged (a node without a name).")
        self.names.add(full)
        if full in trusted_types().get(kind, ()) or full in self._trust:
            return
        if kind == "PartialNode" and full == "functools.partial" and _of_check_array(node):
            return
        self._unknown[full] = None

    def _member(self, kind: str, name: Any) -> str:
        """A new name of a member that was found to be what it should be."""
        if not (isinstance(name, str) and name in self._content):
            refuse("model is damaged (a part of it is missing).")
        content = self._content[name]
        self._count(content, LIST if kind == "BytearrayNode" else 1)
        if kind == "NdArrayNode":
            array_of(content, "model")
        if kind == "SparseMatrixNode":
            self._sparse += 1
            if self._sparse > MAX_SPARSE:
                refuse(f"model must have at most {MAX_SPARSE:,} sparse matrices.")
            for part in members(BytesIO(content), "model").values():
                self._count(part)
                array_of(part, "model")
        kept = f"{len(self._kept)}.part"
        self._kept[kept] = content
        return kept

    def _count(self, content: bytes, times: int = 1) -> None:
        """Bound what is made of the file: a part counts for every node that refers to it."""
        self._bytes += times * len(content)
        if self._bytes > self._most:
            refuse(f"model must need at most {self._most / 2**30:.3g} GiB.")

    def _value(self, node: Any) -> Any:
        """The number or array of a node that was compared."""
        kind = node.get("__loader__") if isinstance(node, dict) else None
        if kind == "JsonNode":
            return _parsed(node["content"], "model")
        if kind == "NdArrayNode" and (node.get("type"), node["__class__"]) == ("numpy", "ndarray"):
            return array_of(self._kept[node["file"]], "model")
        return None


def _content(node: dict[str, Any]) -> dict[str, Any]:
    content = node.get("content")
    return content if isinstance(content, dict) else {}


def _of_check_array(node: dict[str, Any]) -> bool:
    """Whether a partial function is scikit-learn's check of a table, without arguments by position."""
    parts = _content(node)
    function, args = (parts.get(key) for key in ("func", "args"))
    return (
        isinstance(function, dict)
        and isinstance(args, dict)
        and function.get("__loader__") == "FunctionNode"
        and f"{function.get('__module__')}.{function.get('__class__')}" == CHECK_ARRAY
        and "content" not in function
        and args.get("__loader__") == "TupleNode"
        and args.get("content") == []
    )


def _parsed(text: Any, what: str) -> Any:
    """What a text of JSON holds, once it is short enough."""
    try:
        raw = text if isinstance(text, bytes) else str.encode(text)
        if len(raw) > MAX_LETTERS:
            refuse(f"{what} must have a {SCHEMA} of at most {MAX_LETTERS:,} bytes.")
        if sum(map(raw.count, (b"[", b"{", b","))) > MAX_ENTRIES:
            refuse(f"{what} must have at most {MAX_ENTRIES:,} entries.")
        return json.loads(raw)
    except (TypeError, ValueError, MemoryError, RecursionError) as error:
        return refuse(f"{what} is damaged ({type(error).__name__} in its {SCHEMA}).")
