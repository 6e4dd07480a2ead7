# SPDX-License-Identifier: Apache-2.0
"""`explore_inversion`: a client's digits, and what its update gives away of them."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fedlearn_edu.attacks import inversion
from fedlearn_edu.errors import counted, short_traceback
from fedlearn_edu.simulation import ClientData, datasets
from fedlearn_edu.simulation.seeded_rng import seeded_rng
from fedlearn_edu.viz import style
from fedlearn_edu.viz.artists import Texts
from fedlearn_edu.viz.colors import QUIET
from fedlearn_edu.viz.explorers.controls import a_count, a_stop, arguments
from fedlearn_edu.viz.explorers.drift import local_training, model
from fedlearn_edu.viz.explorers.explorer import Explorer
from fedlearn_edu.viz.explorers.frames import Frame, explorers_context

_NOISES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_LEARNING_RATE = 0.1
_LABELS_IN, _EDGE_IN, _LINE_IN, _GAP_IN = 1.1, 0.1, 0.26, 0.07
_MOST_IN_A_ROW = 8
_MOST_SIDES_IN = 2.1  # of the pictures of all rows, below each other
_SQUARE = np.array([[0, 0], [0, 1], [1, 1], [1, 0], [0, 0], [np.nan, np.nan]])

Floats = NDArray[np.floating[Any]]
_Place = tuple[float, float]  # in inches


@short_traceback
def explore_inversion(
    batch_size: int = 1,
    *,
    local_steps: int = 1,
    noise_multiplier: float = 0.0,
    seed: int = 0,
) -> Explorer:
    """Shows a client's digits, and with each what its update tells of it.

    The client trains a softmax regression from zero weights, each step on other digits;
    `attacks.inversion.recover` divides the two parts of its update. Of what it finds,
    one picture per class, the one most alike is shown with a digit. The arguments are
    what the controls begin with.

    >>> print(explore_inversion().sentence)
    A client takes 1 step on 1 digit, a 3. From its update the server recovers it with a
    correlation of 1.00, and its label.

    Args:
        batch_size: Digits in a step, 1 to 8.
        local_steps: How many steps the client takes, 1 to 4.
        noise_multiplier: z: the noise in each weight has standard deviation z·C, where
            C, to which the update is clipped, is the length it has.
        seed: Chooses the digits and the noise, 0 to 99.

    Raises:
        FigureDataError: if an argument is none of these.
    """
    noise = "noise multiplier (std / clip)"
    controls = arguments(
        batch_size=a_count(batch_size, 1, 8, label="batch size (digits per step)"),
        local_steps=a_count(local_steps, 1, 4, label="local steps"),
        noise_multiplier=a_stop(noise_multiplier, _NOISES, most=10.0, label=noise),
        seed=a_count(seed, 0, 99, label="seed (which digits)"),
    )
    title = "What does an update give away?"
    return Explorer(title, InversionPicture(), controls)


@final
@dataclass(frozen=True, eq=False)
class Attempt:
    """What one update tells of the digits behind it.

    Attributes:
        x: `[digits,pixels]`, in the order of the steps.
        y: `[digits]`, their labels.
        found: `[digits,pixels]`, for each the most similar of what was recovered.
        alike: `[digits]`, the correlation of the two.
        labels: those told by the bias.
        noise: how long the noise is, in lengths of the update.
    """

    x: Floats
    y: NDArray[np.int32]
    found: Floats
    alike: Floats
    labels: frozenset[int]
    noise: float


@lru_cache(maxsize=64)
def _trained(batch: int, steps: int, seed: int) -> tuple[Floats, Any, Any]:
    """The digits of a client, their labels, and its update."""
    images, labels = datasets.load_digits28().train
    # Fewer digits are the first of more.
    chosen = seeded_rng("digits", seed).permutation(len(labels))[: batch * steps]
    client, begin = ClientData(images, labels, [chosen])[0], model().initialize(0)
    batches = client.batches(batch)
    with explorers_context():
        (after,) = local_training(_LEARNING_RATE)([begin], [batches])
    update = {name: np.subtract(after[name], begin[name]) for name in begin}
    return client.x, client.y, update


def attempt(batch: int, steps: int, noise: float, seed: int) -> Attempt:
    """Trains one client, adds noise to its update, and inverts it."""
    x, y, update = _trained(batch, steps, seed)
    chance = seeded_rng("noise", seed)
    drawn = {name: chance.standard_normal(u.shape) for name, u in update.items()}
    length, noise_length = map(_length, (update, drawn))
    sent = {name: u + noise * length * drawn[name] for name, u in update.items()}
    told = inversion.recover(model(), sent, _LEARNING_RATE)
    alike = np.array([inversion.correlation(each[None], x) for each in told.x])
    best = alike.argmax(axis=0)
    labels = frozenset(told.labels)
    return Attempt(x, y, told.x[best], alike.max(axis=0), labels, noise * noise_length)


def _length(weights: Any) -> float:
    return math.hypot(*(float(x) for each in weights.values() for x in each.flat))


@final
class InversionPicture:
    """The digits of all steps, what is recovered, and how alike they are."""

    @style.in_our_look
    def __init__(self) -> None:
        self.figure = Figure(figsize=(style.EXPLORER_IN, 1.0), facecolor="white")
        self._axes = self.figure.add_axes((0, 0, 1, 1))
        self._axes.set_axis_off()
        self._images: list[Any] = []
        (self._frames,) = self._axes.plot([], [], color=QUIET, lw=0.8)
        self._labels = Texts(self._axes, ha="left")
        self._numbers = Texts(self._axes)

    @style.in_our_look
    def show(
        self, *, batch_size: int, local_steps: int, noise_multiplier: float, seed: int
    ) -> Frame:
        """Trains and inverts; returns in words what came of it."""
        steps = local_steps
        tried = attempt(batch_size, steps, noise_multiplier, seed)
        side, places, (over, down), height = _layout(batch_size, steps)
        below = down + side + _LINE_IN / 2 + _GAP_IN
        corners, labels, numbers = [], [], []
        shown = zip(places, tried.x, tried.found, tried.alike, strict=True)
        for number, ((left, top), x, found, alike) in enumerate(shown):
            if left == _LABELS_IN:
                beside = _EDGE_IN + over
                labels.append((_EDGE_IN, top + side / 2, "original"))
                labels.append((beside, top + down + side / 2, "recovered"))
                labels.append((beside, top + below, "correlation"))
            if steps > 1 and number % batch_size == 0:
                step = f"step {number // batch_size + 1}"
                labels.append((left, top - _LINE_IN / 2, step))
            corners += [(left, top), (left + over, top + down)]
            for at, pixels in enumerate((x, found), 2 * number):
                self._put(at, pixels, (*corners[at], side))
            number_at = left + over + side / 2, top + below
            numbers.append((*number_at, _minus(f"{alike:.2f}")))
        self._frames.set_data(*np.concatenate([side * _SQUARE + c for c in corners]).T)
        for image in self._images[2 * len(places) :]:
            image.set_visible(False)
        self._labels.show(labels)
        self._numbers.show(numbers)
        self.figure.set_size_inches(style.EXPLORER_IN, height)
        self._axes.set(xlim=(0, style.EXPLORER_IN), ylim=(height, 0))
        return self.figure, _words(tried, steps)

    def _put(self, at: int, pixels: Floats, sides: tuple[float, float, float]) -> None:
        """A picture in gray: its lowest number is paper, its highest is ink."""
        edge = round(len(pixels) ** 0.5)
        if at == len(self._images):
            look: Any = {"cmap": "gray_r", "aspect": "auto"}
            drawn = self._axes.imshow([[0.0]], **look)
            self._images.append(style.as_photograph(drawn))
        image, (left, top, side) = self._images[at], sides
        image.set_data(pixels.reshape(edge, edge))
        image.set_clim(pixels.min(), pixels.max())
        image.set_extent((left, left + side, top + side, top))
        image.set_visible(True)


def _layout(batch: int, steps: int) -> tuple[float, list[_Place], _Place, float]:
    """A picture's side, the corners of digits, the way to their twins, and the height.

    A row is of whole steps; a single digit stands beside what is recovered.
    """
    wide_in = style.EXPLORER_IN - _LABELS_IN - _EDGE_IN
    abreast = min(steps, max(1, _MOST_IN_A_ROW // batch))
    rows, columns = -(-steps // abreast), batch * abreast
    pitch = wide_in / columns
    side = min(pitch - _GAP_IN, _MOST_SIDES_IN / rows)
    second = 0.0, side + _GAP_IN
    if batch * steps == 1:
        second = (style.EXPLORER_IN - _EDGE_IN) / 2, 0.0
        side = second[0] - _LABELS_IN
    head = _EDGE_IN + _LINE_IN * (steps > 1)
    row_in = head + second[1] + side + _GAP_IN + _LINE_IN
    places = [
        (_LABELS_IN + column * pitch, head + row * row_in)
        for row, column in (divmod(at, columns) for at in range(batch * steps))
    ]
    # In whole eighths of an inch, which are whole pixels.
    return side, places, second, float(np.ceil(8 * rows * row_in) / 8)


def _minus(text: str) -> str:
    return text.replace("-", "\N{MINUS SIGN}")


def _words(tried: Attempt, steps: int) -> str:
    count, labels = len(tried.y), sorted(set(tried.y.tolist()))
    how = f"{counted(steps, 'step')} on {counted(count, 'digit')}"
    told, missing = sorted(tried.labels), set(labels) - tried.labels
    if count == 1:
        said = f"recovers it with a correlation of {tried.alike[0]:.2f}"
        how += f", a {labels[0]}"
    else:
        low, high = (f"{end:.2f}" for end in (tried.alike.min(), tried.alike.max()))
        spread = f" on average, from {low} to {high}" if low != high else ""
        said = f"recovers them with a correlation of {tried.alike.mean():.2f}{spread}"
    noise = f", with noise {tried.noise:.2g} times as long," if tried.noise else ""
    what = "its label" if count == 1 else "the labels"
    end = f"and {what}" if set(told) == set(labels) else _mistaken(told, missing)
    return _minus(
        f"A client takes {how}. From its update{noise} the server {said}, {end}."
    )


def _mistaken(told: list[int], missing: set[int]) -> str:
    names = ", ".join(map(str, told))
    without = f" and misses {', '.join(map(str, sorted(missing)))}" if missing else ""
    return f"but as labels it reads {names}{without}"
