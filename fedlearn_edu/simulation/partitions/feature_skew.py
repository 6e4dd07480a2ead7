# SPDX-License-Identifier: Apache-2.0
"""Feature skew: each client sees the same kind of images in its own way.

As with cameras held at an angle, with noisy sensors or hard contrast. Labels and
quantities stay as they were dealt.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from fedlearn_edu.errors import bad_argument, counted, describe, short_traceback
from fedlearn_edu.rules import number
from fedlearn_edu.simulation.partitions.arguments import PartitionError, real, whole
from fedlearn_edu.simulation.seeded_rng import seeded_rng

_MIDDLE_GREY = 0.5


@final
@dataclass(frozen=True)
class FeatureShift:
    """How a client sees images: turned, then with contrast, then with noise.

    Attributes:
        rotation: degrees, counter-clockwise; what turns in from outside is 0.
        contrast: the factor by which grey values move away from the middle, 0.5.
        noise: standard deviation of what is added to each pixel, in grey values of
            0..1; the result is clipped to 0..1.
        seed: where the noise comes from, `(seed, client)`; the same images get the same
            noise whenever they are looked at.

    >>> FeatureShift(contrast=0.5).apply(np.array([[[0, 255]]], np.uint8)).tolist()
    [[[0.25, 0.75]]]
    """

    rotation: float = 0.0
    contrast: float = 1.0
    noise: float = 0.0
    seed: tuple[int, int] = (0, 0)

    @short_traceback
    def __post_init__(self) -> None:
        lines = {"summary": "rotation is a finite number"}
        lines |= {"expected": "rotation of any size"}
        number(self.rotation, "rotation, a number", PartitionError, **lines)
        real(self.contrast, "contrast >= 0")
        real(self.noise, "noise >= 0")
        for part in self.seed:
            whole(part, "seed", least=0)

    @short_traceback
    def apply(self, images: NDArray[Any]) -> NDArray[np.float32]:
        """The images as this client sees them, `float32` of 0..1 in the same shape.

        Args:
            images: `uint8` of 0..255 or floats of 0..1, `[n,height,width]` or
                `[n,height,width,channels]`.

        Raises:
            PartitionError: if these are not such images.
        """
        seen = as_grey(images)
        if self.rotation:
            seen = _rotated(seen, self.rotation)
        if self.contrast != 1:
            seen = _MIDDLE_GREY + self.contrast * (seen - _MIDDLE_GREY)
        if self.noise:
            source = seeded_rng("noise", *self.seed)
            seen = seen + self.noise * source.standard_normal(seen.shape)
        clipped: NDArray[np.float32] = np.clip(seen, 0.0, 1.0).astype(np.float32)
        return clipped


@short_traceback
def feature_shifts(
    num_clients: int,
    *,
    rotation: float = 0.0,
    noise: float = 0.0,
    contrast: float = 0.0,
    seed: int = 0,
) -> tuple[FeatureShift, ...]:
    """Draws a feature shift for each client: how it sees all of its images.

    Args:
        num_clients: How many clients.
        rotation: Angles are drawn evenly from -rotation to rotation, in degrees.
        noise: Standard deviations are drawn evenly from 0 to noise.
        contrast: Factors are drawn evenly from 1 - contrast to 1 + contrast; below 1.
        seed: A whole number; the same one gives the same shifts.

    >>> [round(each.rotation, 1) for each in feature_shifts(3, rotation=30.0)]
    [-2.6, -19.8, -14.1]
    """
    angle, deviation = real(rotation, "rotation >= 0"), real(noise, "noise >= 0")
    reach = real(contrast, "contrast >= 0")
    if reach >= 1:
        raise PartitionError(
            "contrast would be lost or turned around",
            expected="0 <= contrast < 1",
            found=contrast,
            where="contrast",
        )
    clients, start = whole(num_clients, "num_clients"), whole(seed, "seed", least=0)
    # The stream keeps its first name, and so its numbers.
    drawn = seeded_rng("looks", start).random([clients, 3])
    return tuple(
        FeatureShift(
            rotation=float(angle * (2 * turn - 1)),
            contrast=float(1 + reach * (2 * factor - 1)),
            noise=float(deviation * level),
            seed=(start, client),
        )
        for client, (turn, factor, level) in enumerate(drawn)
    )


def as_grey(images: NDArray[Any]) -> NDArray[Any]:
    """Images as floats of 0..1, or an error that says what is wrong with them."""
    values = np.asarray(images)
    is_bytes = values.dtype == np.uint8
    fits = values.ndim in (3, 4) and (is_bytes or values.dtype.kind == "f")
    if fits and not is_bytes:
        fits = bool(((values >= 0) & (values <= 1)).all())
    if not fits:
        raise PartitionError(
            "a feature shift is for images",
            expected="[n,height,width], of uint8 or of floats from 0 to 1",
            found=f"{values.dtype} of shape {list(values.shape)}",
            where="images",
            do="give the images before they are flattened or standardised",
        )
    return values / 255.0 if is_bytes else values


def _rotated(images: NDArray[Any], degrees: float) -> NDArray[np.float32]:
    """Bilinear, about the middle, channel by channel; the size stays."""
    from PIL import Image

    stack = images.astype(np.float32)
    flat = stack[..., None] if stack.ndim == 3 else stack
    turned = np.empty_like(flat)
    for index in np.ndindex(len(flat), flat.shape[3]):
        of, channel = index
        image = Image.fromarray(np.ascontiguousarray(flat[of, :, :, channel]))
        turned[of, :, :, channel] = np.asarray(
            image.rotate(degrees, Image.Resampling.BILINEAR)
        )
    return turned.reshape(stack.shape)


def checked_shifts(
    shifts: Sequence[FeatureShift], clients: int, x: NDArray[Any], scaled: bool
) -> tuple[FeatureShift, ...]:
    """One shift for each client, of images whose grey values are 0..1."""
    found = tuple(shifts)
    if len(found) != clients or not all(
        isinstance(each, FeatureShift) for each in found
    ):
        raise PartitionError(
            "the feature shifts do not fit the clients",
            expected=f"one FeatureShift for each of {clients:,} clients",
            found=f"{counted(len(found), 'entry', 'entries')}: {describe(shifts)}",
            where="feature_shifts",
            do=f"partitions.feature_shifts({clients}, rotation=30.0)",
        )
    as_grey(x[:1] / 255.0 if scaled else x[:1])
    if x.dtype == np.uint8 and not scaled:
        lines = {"summary": "a feature shift works on grey values of 0..1"}
        lines |= {"expected": "images divided by 255", "do": "leave out scale=False"}
        raise bad_argument(scaled, "scale", PartitionError, **lines)
    return found
