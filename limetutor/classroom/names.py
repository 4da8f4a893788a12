"""Which names of a notebook an answer uses, read from its code, which is not run."""

import ast
from collections.abc import Iterator, Sequence


def statements(code: str) -> list[ast.stmt]:
    """The statements of a cell, as Python or, with magics and shell commands, as Jupyter reads it; none otherwise."""
    for read in (str, _for_jupyter):
        try:
            return ast.parse(read(code)).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return []


def _for_jupyter(code: str) -> str:
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(code)


def reached(cells: Sequence[str], name: str) -> set[str]:
    """The names that a name needs, directly or by way of others that the cells define."""
    needs: dict[str, set[str]] = {}
    for statement in (s for code in cells for s in statements(code)):
        loaded = {n.id for n in _names(statement) if isinstance(n.ctx, ast.Load)}
        for made in _made(statement):
            needs.setdefault(made, set()).update(loaded)
    found: set[str] = set()
    new = {name}
    while new:
        new = set().union(*(needs.get(n, set()) for n in new)) - found
        found |= new
    return found


def _names(statement: ast.stmt) -> Iterator[ast.Name]:
    return (node for node in ast.walk(statement) if isinstance(node, ast.Name))


def _made(statement: ast.stmt) -> set[str]:
    """The names that a statement defines or changes."""
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    own = {node.name for node in ast.walk(statement) if isinstance(node, defined)}
    return own | {n.id for n in _names(statement) if isinstance(n.ctx, ast.Store)}
