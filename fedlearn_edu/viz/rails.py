# SPDX-License-Identifier: Apache-2.0
"""Draws what builds on what: stops on two lanes, and lines from each to later ones.

    stops → the row of each → lines, on lanes between the two → a picture for each row

A row is as high as the words beside it, so its picture may be cut off anywhere below
the stops: there, lines only go down. Its colors stand out from any page.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import final
from urllib.parse import quote

from fedlearn_edu.viz.colors import QUIET, TEST
from fedlearn_edu.viz.html import tag

_STEP = 24  # pixels from lane to lane
_BEND = 8  # the radius of curves, and of stops
_CENTER = 17  # of stops, from the top of a row
_LONG = 400  # no row is as high


@final
@dataclass(frozen=True)
class Stop:
    """A place on one of the two outer lanes.

    Attributes:
        name: of two stops, the earlier one has the smaller name.
        side: 0 for the first lane, 1 for the last one.
        after: the names of earlier ones that it builds on.
        share: how much of it is done, from 0 to 1.
    """

    name: str
    side: int
    after: tuple[str, ...]
    share: float


def placed(stops: Iterable[Stop]) -> dict[str, int]:
    """The row of each stop: below what it builds on, and below the one before it.

    >>> placed([Stop("1", 0, (), 0), Stop("2", 0, (), 0), Stop("3", 1, ("1",), 0)])
    {'1': 0, '2': 1, '3': 1}
    """
    rows: dict[str, int] = {}
    lowest = [-1, -1]
    for stop in sorted(stops, key=lambda stop: stop.name):
        above = [lowest[stop.side], *(rows[name] for name in stop.after)]
        rows[stop.name] = lowest[stop.side] = max(above) + 1
    return rows


def draw_rails(stops: Sequence[Stop]) -> list[str]:
    """An element for each row, with words on what leads to the stops in it."""
    rows, stops = placed(stops), _direct(stops)
    lines, last = _lines(stops, rows)
    paths = [""] * (max(rows.values()) + 1)
    for stop, ends, lane in lines:
        begin, end = rows[stop.name], max(rows[each.name] for each in ends)
        paths[begin] += _out_of(last * stop.side, lane)
        for row in range(begin + 1, end):
            paths[row] += f"M{_x(lane)} 0V{_LONG}"
        for each in ends:
            paths[rows[each.name]] += _into(last * each.side, lane)
    drawn = []
    for row, path in enumerate(paths):
        here = [stop for stop in stops if rows[stop.name] == row]
        marks = "".join(_mark(_x(last * stop.side), stop.share) for stop in here)
        told = "; ".join(map(_told, here))
        drawn.append(_picture(f'<path d="{path}"/>{marks}', _STEP * (last + 1), told))
    return drawn


def _direct(stops: Iterable[Stop]) -> list[Stop]:
    """In their order; each builds on what it names, less what that builds on.

    A stop that names nothing builds on the one before it on its side.
    """
    found: list[Stop] = []
    known: dict[str, set[str]] = {}
    last: dict[int, tuple[str, ...]] = {}
    for stop in sorted(stops, key=lambda stop: stop.name):
        named = stop.after or last.get(stop.side, ())
        indirect = set().union(*(known[name] for name in named))
        after = tuple(name for name in named if name not in indirect)
        found.append(replace(stop, after=after))
        known[stop.name], last[stop.side] = indirect | set(named), (stop.name,)
    return found


def _lines(
    stops: Sequence[Stop], rows: Mapping[str, int]
) -> tuple[list[tuple[Stop, list[Stop], int]], int]:
    """From stops to those that build on them, each on a lane; and the last lane.

    A line straight to the next stop is on the lane of both, others between the two.
    """
    straight, bent = [], []
    taken: list[int] = []  # each lane between, down to which row
    for stop in sorted(stops, key=lambda stop: rows[stop.name]):
        below = [e for e in stops if e.side == stop.side and e.name > stop.name][:1]
        later = [each for each in stops if stop.name in each.after]
        if near := [each for each in later if each in below]:
            straight.append((stop, near))
        if far := [each for each in later if each not in below]:
            row = rows[stop.name]
            lane = next((n for n, to in enumerate(taken) if to <= row), len(taken))
            taken[lane : lane + 1] = [max(rows[each.name] for each in far)]
            bent.append((stop, far, lane))
    last = len(taken) + 1
    lines = [(stop, near, last * stop.side) for stop, near in straight]
    return lines + [(stop, far, last - 1 - lane) for stop, far, lane in bent], last


def _x(lane: float) -> float:
    return _STEP * (lane + 0.5)


def _out_of(source: int, lane: int) -> str:
    """Down from a stop, and over to a lane."""
    begin, bend = f"M{_x(source)} {_CENTER + _BEND}", _bend(source, lane)
    if bend:
        begin += f"q0 8 {bend} 8H{_x(lane) - bend}q{bend} 0 {bend} 8"
    return f"{begin}V{_LONG}"


def _into(stop: int, lane: int) -> str:
    """Down a lane, and over to a stop, with the head of an arrow."""
    begin, bend = f"M{_x(lane)} 0V{_CENTER - _BEND}", _bend(lane, stop)
    if not bend:
        return begin
    x = _x(stop) - 1.5 * bend
    return f"{begin}q0 8 {bend} 8H{x}m{-bend / 2}-4l{bend / 2} 4l{-bend / 2} 4"


def _bend(start: int, end: int) -> int:
    return _BEND * ((end > start) - (end < start))


def _mark(x: float, share: float) -> str:
    """A ring that is thicker as far as it is done, and a check when all of it is."""
    ring = f'<circle cx="{x}" cy="{_CENTER}" r="7" stroke'
    if share == 1:
        check = f'<path d="M{x - 4} {_CENTER}l3 3l5-6" stroke="#fff"/>'
        return f'{ring}="{TEST}" fill="{TEST}"/>{check}'
    done = f'stroke-dasharray="{share * 14 * pi:.1f} 99" stroke-width="5"'
    turned = f'transform="rotate(-90 {x} {_CENTER})"'
    begun = f'{ring}="{TEST}" {done} {turned}/>' if share else ""
    return f'{ring}-width="3"/>{begun}'


def _told(stop: Stop) -> str:
    """In words.

    >>> _told(Stop("09b", 1, ("05", "09a"), 0))
    '09b builds on 05 and 09a'
    """
    return f"{stop.name} builds on {' and '.join(stop.after) or 'no other'}"


def _picture(inner: str, width: float, told: str) -> str:
    """An image, as JupyterLab shows no SVG of a notebook that was not run yet."""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_LONG}" '
        f'fill="none" stroke="{QUIET}" stroke-width="2">{inner}</svg>'
    )
    look = "display:block;left:0;margin:0;max-width:none;position:absolute;top:0"
    address = f"data:image/svg+xml,{quote(svg)}"
    image = f'<img src="{address}" alt="{told}" style="{look}">'
    cut = f"height:100%;overflow:hidden;position:relative;width:{width}px"
    return tag("div", image, style=cut)
