"""Skops files as an attacker would write them: fitted models with edited parts, and parts from nothing."""

import copy
import io as streams
import json
import zipfile

import numpy as np
import sklearn
from skops import io

SCHEMA = "schema.json"
NONE = {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": "null"}


class Opened:
    """A skops file taken apart: its schema, and its members by name."""

    def __init__(self, model):
        with zipfile.ZipFile(streams.BytesIO(io.dumps(model))) as file:
            self.members = {name: file.read(name) for name in file.namelist()}
        self.schema = json.loads(self.members.pop(SCHEMA))

    def copy(self):
        """Another one, for edits."""
        return copy.deepcopy(self)

    def node(self, key):
        """The first node that an attribute of that name has."""
        return next(_with_key(self.schema, key))

    def array(self, node):
        """The array of a node."""
        return np.load(streams.BytesIO(self.members[node["file"]]))

    def put(self, node, array):
        """Give a node another array."""
        stream = streams.BytesIO()
        np.save(stream, array)
        node["file"] = f"edited-{len(self.members)}.npy"
        self.members[node["file"]] = stream.getvalue()

    def edit(self, key, change):
        """Change all arrays or values of attributes of that name by a function of them."""
        for node in list(_with_key(self.schema, key)):
            if node["__loader__"] == "JsonNode":
                node["content"] = json.dumps(change(json.loads(node["content"])))
            elif "file" in node:
                self.put(node, change(self.array(node)))

    def add(self, key, part, model=None):
        """Give the model, or one inside of it, an attribute, or another value of one."""
        state = (model or self.schema)["content"]
        if key not in state["content"]:
            state["key_types"]["content"].append(node("TypeNode", "builtins.str"))
        state["content"][key] = part

    def write(self, path):
        """Put the file together again."""
        return write(path, self.schema, self.members)


def _with_key(part, key):
    if isinstance(part, dict):
        entry = part.get(key)
        if isinstance(entry, dict) and "__loader__" in entry:
            yield entry
    for entry in (
        part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    ):
        yield from _with_key(entry, key)


def write(path, schema, members=(), **how):
    """A skops file of any schema."""
    with zipfile.ZipFile(path, "w", **how) as file:
        file.writestr(SCHEMA, schema if isinstance(schema, str) else json.dumps(schema))
        for name, content in dict(members).items():
            file.writestr(name, content)
    return path


def node(kind, name, **more):
    """A node of that kind and full name."""
    module, _, last = name.rpartition(".")
    return {"__loader__": kind, "__module__": module, "__class__": last, **more}


def model_of(part):
    """A schema that holds a part as an attribute of a linear regression."""
    version = NONE | {"content": json.dumps(sklearn.__version__)}
    keys = node("ListNode", "builtins.list", content=[node("TypeNode", "builtins.str")] * 2)
    content = {"_sklearn_version": version, "coef_": part}
    state = node("DictNode", "builtins.dict", content=content, key_types=keys)
    name = "sklearn.linear_model._base.LinearRegression"
    return node("ObjectNode", name, content=state, protocol=2, _skops_version="0.16.0")


def called(function, argument):
    """A part that calls a function with a text: what a dict takes for the type of its key."""
    keys = node("ListNode", "builtins.list", content=[function])
    return node("DictNode", "builtins.dict", content={argument: NONE}, key_types=keys)


def of_every_kind(name):
    """Nodes that make skops look a name up, and do something with what it finds."""
    content = node("TupleNode", "builtins.tuple", content=[])
    empty = {"func": NONE, "args": content, "kwds": NONE, "namespace": NONE}
    yield node("FunctionNode", name)
    yield node("TypeNode", name)
    yield node("ObjectNode", name)
    yield node("ConstructorFromReduceNode", name, content=content)
    yield node("ListNode", name, content=[])
    yield node("TupleNode", name, content=[])
    yield node("PartialNode", name, content=empty)
    yield node("TreeNode", name, content=NONE, __reduce__={"args": content})
    yield node("OperatorFuncNode", name, attrs=content)
    yield called(node("TypeNode", name), "text")
