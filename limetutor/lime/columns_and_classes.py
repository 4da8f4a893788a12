"""Which columns and which class an explainer of `lime`, a model and a row agree on.

`lime` hands arrays to the model, and names its classes by their column: names of its own that say
otherwise than those of the model are refused. Chapter: the real lime.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.boxes import BoxWorld, World
from ..core.problem import boxes_for
from ..inputs import arguments as arg
from ..inputs.names import in_place, order_of, refuse_repeated
from ..inputs.predictors import (
    agreed_names,
    caller,
    classes_of,
    listed_classes,
    model_behind,
    names_fitted_on,
    spelled,
)


class NamesClasses(BoxWorld):
    """A world whose explainer has names for the classes, in ``class_names``."""

    own_row = True
    class_names: tuple[str, ...] = ()

    def output(self, f: Any, output: Any) -> Any:
        """The output that was asked for; a class name of the explainer as the class of f it means."""
        if not isinstance(output, str) or output not in self.class_names:
            return output
        classes = classes_of(f)
        refuse_classes(self.class_names, classes)
        column = self.class_names.index(output)
        if output in [label for label in classes if isinstance(label, str)]:
            return output
        return classes[column] if len(classes) == len(self.class_names) else column


def refuse_columns(f: Any, names: Sequence[str], who: str, X: Any) -> list[str]:
    """The columns of f, whose order must be that of an explainer's features and of rows with names."""
    fitted = names_fitted_on(f)
    if len(fitted) == len(names) and not in_place(spelled(f, names), fitted):
        raise ValueError(
            "explainer must have its features in the order of the columns of f, to which lime hands "
            f"arrays, got {arg.shorten(list(names))} for {arg.shorten(fitted)}."
        )
    agreed_names(f, who, X, names, "explainer must have feature_names")
    return fitted


def with_columns_of(f: Any, world: Any, who: str, X: Any) -> Any:
    """The world of an explainer that calls its features otherwise than f, by the names of f."""
    boxes = world.boxes()
    fitted = refuse_columns(f, boxes.names, who, X)
    if len(fitted) != boxes.d or order_of(spelled(f, boxes.names), fitted) is not None:
        return world
    return replace(world, _boxes=replace(boxes, names=tuple(fitted)))


def refuse_classes(names: Any, classes: Sequence[Any]) -> None:
    """Refuse names of classes that come twice, or that the model has in another order."""
    names = [str(name) for name in names]
    refuse_repeated("explainer", names, "have different class_names")
    if not in_place(names, [str(label) for label in classes]):
        raise ValueError(
            f"explainer must have its class_names in the order of the classes of f, "
            f"{arg.shorten(list(classes))}, got {arg.shorten(names)}."
        )


def label_column(label: Any, names: Any, columns: int | None, classes: Sequence[Any] = ()) -> int:
    """The column of the probabilities that `lime`'s label stands for: its number, or a class name.

    `lime` explains column 1 unless told otherwise, also where the classes are called 1, 2, 3.
    ``names`` are those of the explainer, or else those of the model (``classes``), None without any;
    ``columns`` is how many there are, None where only the model could tell.
    """
    names = [] if names is None else [str(name) for name in names]
    if isinstance(label, str) and label in names[:columns]:
        refuse_classes(names, classes)
        return names.index(label)
    label = 1 if label is None else label
    if arg.is_integer(label) and 0 <= label < (np.inf if columns is None else columns):
        return int(label)
    upto = "from 0 on" if columns is None else f"from 0 to {columns - 1}"
    named = f" or one of the classes {arg.shorten(names)}" if names else ""
    raise ValueError(f"label must be a column {upto}{named}, got {arg.shorten(label)}.")


def output_of(model: Any, label: Any, output: Any, classifies: bool | None, names: Any) -> Any:
    """The output to explain, from `lime`'s column (or its class name) or from the class itself.

    ``names`` are those of :func:`label_column`; ``classifies`` is None where only the model could
    tell, and does not.
    """
    if output is not None:
        if label is not None:
            raise ValueError("label and output must not both be given; label is lime's column.")
        return output
    if classifies is False and (label is None or (arg.is_integer(label) and label == 1)):
        return None  # lime keeps a regression under 1 too
    if classifies is False:
        raise ValueError(f"label must be left out for a regression, got {arg.shorten(label)}.")
    if label is None and not classifies:
        return None
    classes = listed_classes(model)
    columns = len(classes) or None
    names = classes if names is None else list(names)[:columns]
    column = label_column(label, names, columns, classes)
    return classes[column] if classes else column


def output_in_world(f: Any, xi: Any, world: World, label: Any, output: Any) -> Any:
    """The requested output; of a classifier in a world read from `lime` the one that `lime` takes."""
    model, class_names = model_behind(f), getattr(world, "class_names", None)
    classifies = None
    if class_names is not None and label is None and output is None:
        classifies = hasattr(model, "predict_proba") or None
        if not classifies and class_names:
            boxes = boxes_for(world, xi, model)
            values = np.asarray(caller(model, boxes)[0](boxes.encode(xi)[None]))
            classifies = (values.ndim == 2 and values.shape[1] > 1) or None
    return output_of(model, label, output, classifies, class_names or None)
