"""What LIME is asked: a model at an instance, in a world, through a kernel of some bandwidth.

A :class:`Setting` is made once at the door of a public function, where everything is checked and
the instance becomes numbers; explaining, limits, sample sizes and audits all start from it, and
what is expensive (the form of f, the tilted law) is found once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from . import arguments as arg
from .families import features_of, form_in
from .kernels import Kernel, OwnKernel, ProductKernel, kernel_of, product_kernel
from .models import Form, classes_of, predictor
from .tables import rows_of
from .theory import Tilt
from .travel import Forgotten, Model, kept
from .worlds import Boxes, BoxWorld, Empirical, World, check_world


@dataclass(frozen=True, eq=False)
class Setting:
    """f at xi in a world, seen through a kernel of bandwidth nu. ``xi`` holds numbers (d,)."""

    f: Any
    xi: np.ndarray
    world: World = field(repr=False)
    boxes: Boxes = field(repr=False)
    nu: float
    kernel: Kernel
    output: Any = None

    @classmethod
    def of(
        cls,
        f: Any,
        xi: Any,
        world: World,
        nu: Any,
        kernel: Any = "gaussian",
        output: Any = None,
        *,
        purpose: str | None = None,
        boxes_needed: bool = True,
    ) -> Setting:
        """Check what a caller passed; with a ``purpose`` the kernel must have a tilt for it."""
        check_world(world, boxes_needed)
        nu = arg.bandwidth("nu", nu)
        weight = kernel_of(kernel) if purpose is None else product_kernel(kernel, purpose)
        if not world.indicators:
            weight = product_kernel(weight, "a world without boxes").without_boxes()
        boxes = boxes_for(world, xi, None if purpose is None else f)
        numbers = boxes.encode(xi)
        if isinstance(world, BoxWorld):
            boxes = world.seen_from(numbers)
        return cls(f, numbers, world, boxes, nu, weight, output_in(world, f, output))

    def __getstate__(self) -> dict[str, Any]:
        """What was asked and f(xi), not what else was found: functions cannot be pickled."""
        known = {"prediction": self.prediction} if "prediction" in self.__dict__ else {}
        return {part.name: getattr(self, part.name) for part in fields(self)} | known

    def without_model(self) -> Setting:
        """The same without the model, a caller's kernel and the training table, to be sent away.

        The prediction goes along; to ask the model anything else is then refused.
        """
        return without_model(self, "prediction")

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.xi)

    @cached_property
    def own(self) -> np.ndarray:
        """The box of each feature that xi lies in, (d,)."""
        return self.boxes.discretize(self.xi)

    @property
    def box_names(self) -> tuple[str, ...]:
        """Those boxes in words; a number without boxes goes by its name, as in `lime`."""
        names, plain = self.boxes.names, self.boxes.ordered & (not self.world.indicators)
        return tuple(
            names[j] if plain[j] else self.boxes.describe(j, int(box))
            for j, box in enumerate(self.own)
        )

    def seen(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """What the surrogate is fitted on, of rows x (n, d) with indicators z (n, d): z itself.

        In a world without boxes, numbers in units of their scale, and the indicators of categories.
        """
        if self.world.indicators:
            return z
        centre = self.world.centre  # type: ignore[union-attr]
        return np.where(self.boxes.ordered, (x - centre) / self.boxes.unit, z)

    @cached_property
    def lead(self) -> np.ndarray:
        """The same of xi, (d,): ones where there are boxes."""
        return self.seen(self.xi[None], np.ones((1, self.d), bool))[0].astype(float)

    @cached_property
    def predict(self) -> Callable[[np.ndarray], np.ndarray]:
        """f as a function from rows of numbers to finite numbers."""
        return predictor(self.f, self.boxes, self.output)

    @cached_property
    def prediction(self) -> float:
        """f(xi)."""
        return float(self.predict(self.xi[None])[0])

    @cached_property
    def form(self) -> Form | None:
        """The form of f in this world, or None; one that disagrees with f at xi is refused."""
        form = form_in(self.boxes, self.f, self.output)
        if form is None or form is self.f:
            return form
        formula = float(form(self.xi[None])[0])
        if not form.agrees(np.array(formula), np.array(self.prediction)):
            raise ValueError(
                f"f must be what its fitted attributes say, but it gives {self.prediction:g} at xi "
                f"and they give {formula:g}; pass a function such as f.predict to have it sampled."
            )
        return form

    @property
    def product(self) -> ProductKernel | None:
        """The kernel, if it has a tilt."""
        return self.kernel if isinstance(self.kernel, ProductKernel) else None

    @cached_property
    def tilt(self) -> Tilt:
        """The tilted law seen from xi."""
        nu = self.nu * self.boxes.unit
        return product_kernel(self.kernel, "its tilted law").tilt(self.boxes, self.xi, nu)

    def at(self, nu: float | None = None, world: World | None = None) -> Setting:
        """The same question at another bandwidth, or in another world with the same features."""
        changes: dict[str, Any] = {} if nu is None else {"nu": nu}
        if world is not None:
            changes |= {"world": world, "boxes": world.boxes(self.d)}
        other = replace(self, **changes)
        for name in ("predict", "prediction", "form"):  # do not depend on either
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other


def without_model(asked: Any, known: str) -> Any:
    """What was asked, without the model, a caller's kernel and the training table.

    ``known`` names what the model has said already, which goes along.
    """
    world, kernel = asked.world, asked.kernel
    if isinstance(world, Empirical):
        world = BoxWorld(asked.boxes)
    if isinstance(kernel, OwnKernel):
        kernel = OwnKernel(Forgotten(kernel.name))
    other = replace(asked, f=kept(asked.f), world=world, kernel=kernel)
    if known in asked.__dict__:
        other.__dict__[known] = asked.__dict__[known]
    return other


class Answer(Model):
    """What a result says of the setting it answers."""

    setting: Setting

    @property
    def world(self) -> World:
        """Where new examples come from."""
        return self.setting.world

    @cached_property
    def box_names(self) -> tuple[str, ...]:
        """The boxes of xi in words."""
        return self.setting.box_names


def output_in(world: World, f: Any, output: Any) -> Any:
    """The output that was asked for; a class name of a `lime` explainer as the class of f it means."""
    names = getattr(world, "class_names", ())
    if not isinstance(output, str) or output not in names:
        return output
    column, classes = names.index(output), classes_of(f)
    if output in [known for known in classes if isinstance(known, str)]:
        return output
    return classes[column] if len(classes) == len(names) else column


def boxes_for(world: World, xi: Any, f: Any = None) -> Boxes:
    """The boxes of a world; one that fits any dimension takes the model's, else the instance's."""
    if world.d is not None:
        return world.boxes()
    features = features_of(f)
    return world.boxes(rows_of("xi", xi, (), one=True).shape[1] if features is None else features)
