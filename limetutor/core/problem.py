"""What LIME is asked: a model at an instance, in a world, through a kernel of some bandwidth.

A :class:`Problem` is made once by a public function, which checks everything; what is expensive (the
form of f, the tilted law) is computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..inputs import arguments as arg
from ..inputs.predictors import agreed_names, predictor
from ..inputs.tables import rows_of
from ..results.result import DroppedModel, model_in_pickle
from .boxes import Boxes, World, check_world
from .kernels import CallableKernel, Kernel, ProductKernel, kernel_of, product_kernel
from .models import Form, features_of, form_in
from .tilted_law import Tilt

# what does not change with the bandwidth or the boxes
KEPT = ("predict", "prediction", "form", "form_notes")


@dataclass(frozen=True, eq=False)
class Problem:
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
        cls, f: Any, xi: Any, world: World, nu: Any, kernel: Any = None, output: Any = None, *,
        purpose: str | None = None, boxes_needed: bool = True,
    ) -> Problem:  # fmt: skip
        """Check what a caller passed; with a ``purpose`` the kernel must have a tilt for it."""
        nu, weight = checked_weighting(world, nu, kernel, purpose, boxes_needed)
        world = named_world(world, "xi", xi, f)
        boxes, numbers = instance_in(world, xi, None if purpose is None else f)
        boxes = world.boxes_at(numbers) if world.moves else boxes
        output = None if output is None else world.output(f, output)
        return cls(f, numbers, world, boxes, nu, weight, output)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what was asked and f(xi), not what else was computed: functions have no pickle."""
        prediction = {"prediction": self.prediction} if "prediction" in self.__dict__ else {}
        return {part.name: getattr(self, part.name) for part in fields(self)} | prediction

    def without_model(self) -> Problem:
        """The same for pickles, where to ask the model for more than f(xi) is refused."""
        return without_model(self, "prediction")

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.xi)

    @cached_property
    def box_of_xi(self) -> np.ndarray:
        """The box of each feature that xi lies in, (d,)."""
        return self.boxes.discretize(self.xi)

    @cached_property
    def box_names(self) -> tuple[str, ...]:
        """Those boxes in words; a number without boxes goes by its name, as in `lime`."""
        names = self.boxes.names
        by_name = self.boxes.ordered & (self.world.regression is not None)
        return tuple(
            names[j] if by_name[j] else self.boxes.describe(j, int(box))
            for j, box in enumerate(self.box_of_xi)
        )

    @cached_property
    def value_at_xi(self) -> np.ndarray:
        """What the surrogate is fitted on, at xi, (d,): ones where there are boxes."""
        regression = self.world.regression
        return np.ones(self.d) if regression is None else regression.value_at_xi(self)

    def columns(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """What the surrogate is fitted on, of rows x (n, d) with indicators z (n, d): z itself."""
        regression = self.world.regression
        return z if regression is None else regression.columns(self, x, z)

    @cached_property
    def predict(self) -> Callable[[np.ndarray], np.ndarray]:
        """f as a function from rows of numbers to finite numbers."""
        return predictor(self.f, self.boxes, self.output)

    @cached_property
    def prediction(self) -> float:
        """f(xi)."""
        if isinstance(self.f, Form) and self.output is None and self.f.d == self.d:
            return float(self.f(self.xi[None])[0])
        return float(self.predict(self.xi[None])[0])

    @cached_property
    def form(self) -> Form | None:
        """The form of f in this world, or None where it has none, or predicts something else."""
        return form_in(self)

    form_notes: ClassVar[tuple[str, ...]] = ()  # why a model is not what its form says

    @property
    def product(self) -> ProductKernel | None:
        """The kernel, if it has a tilt."""
        return self.kernel if isinstance(self.kernel, ProductKernel) else None

    @cached_property
    def tilt(self) -> Tilt:
        """The tilted law seen from xi."""
        nu = self.nu * self.boxes.unit
        return product_kernel(self.kernel, "its tilted law").tilt(self.boxes, self.xi, nu)

    def at(self, nu: float | None = None, world: World | None = None) -> Problem:
        """The same problem at another bandwidth, or in another world with the same features."""
        changes: dict[str, Any] = {} if nu is None else {"nu": nu}
        if world is not None:
            changes |= {"world": world, "boxes": world.boxes(self.d)}
        return knowing(replace(self, **changes), self, *KEPT)


def checked_weighting(
    world: Any, nu: Any, kernel: Any, purpose: str | None, boxes_needed: bool
) -> tuple[float, Kernel]:
    """The bandwidth and the kernel that were asked for in a world, checked."""
    check_world(world, boxes_needed)
    nu = arg.bandwidth("nu", world.nu if nu is None else nu)
    kernel = world.kernel if kernel is None else kernel
    weight = kernel_of(kernel) if purpose is None else product_kernel(kernel, purpose)
    return nu, world.weighted_by(weight)


def without_model(problem: Any, computed: str) -> Any:
    """A problem without the model, a caller's kernel and the training table, for pickles.

    ``computed`` names what the model has said already, which is kept.
    """
    world, kernel = problem.world.without_table(problem.boxes), problem.kernel
    if isinstance(kernel, CallableKernel):
        kernel = CallableKernel(DroppedModel(kernel.name))
    other = replace(problem, f=model_in_pickle(problem.f), world=world, kernel=kernel)
    return knowing(other, problem, computed)


def knowing(problem: Any, source: Any = None, *names: str, **values: Any) -> Any:
    """A problem that need not compute what ``source`` has computed under these names, nor values."""
    computed = {} if source is None else source.__dict__
    problem.__dict__.update({name: computed[name] for name in names if name in computed} | values)
    return problem


def named_world(world: World, who: str, X: Any, f: Any) -> World:
    """The world with the names of an instance or a table where f has names and it has none."""
    if type(X) is np.ndarray or type(X) is list:
        return world
    own = () if world.d is None else world.boxes().names
    names = agreed_names(f, who, X, own)
    return replace(world, names=tuple(names)) if names and not own else world  # type: ignore[type-var]


def instance_in(world: World, xi: Any, f: Any = None) -> tuple[Boxes, np.ndarray]:
    """The boxes of a world, and an instance in them as numbers (d,)."""
    if type(xi) is list and {float} >= set(map(type, xi)):
        xi = np.array(xi, float)
    boxes = boxes_for(world, xi, f)
    row = type(xi) is np.ndarray and xi.dtype == float and xi.shape == boxes.mu.shape
    if row and not boxes.kinds:
        return boxes, arg.within("xi", arg.numbers("xi", xi))
    return boxes, boxes.encode(xi)


def boxes_for(world: World, xi: Any, f: Any = None) -> Boxes:
    """The boxes of a world; one that fits any dimension takes the model's, else the instance's."""
    if world.d is not None:
        return world.boxes()
    features = None if f is None else features_of(f)
    if features is None:
        row = type(xi) is np.ndarray and xi.dtype == float and xi.ndim == 1  # needs no reading
        features = len(xi) if row else rows_of("xi", xi, (), one=True).shape[1]
    return world.boxes(features)
