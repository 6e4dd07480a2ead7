# SPDX-License-Identifier: Apache-2.0
"""What people call: play a computation, replay a tape, draw one."""

from typing import TYPE_CHECKING, Any

from fedlearn_edu.errors import TypeMismatchError, describe, short_traceback
from fedlearn_edu.framework import Tape
from fedlearn_edu.language.computation import Computation
from fedlearn_edu.language.decorator import PolymorphicComputation
from fedlearn_edu.simulation.log.recorded import record
from fedlearn_edu.viz import style
from fedlearn_edu.viz.player.drawing import TapePicture
from fedlearn_edu.viz.player.story import Story

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fedlearn_edu.viz.player.player import Player


@short_traceback
def play(
    comp: Any,
    *args: Any,
    fuse: bool = False,
    default_num_clients: int = 0,
    max_fanout: int = 100,
    **kwargs: Any,
) -> "Player":
    """Runs a computation once, recorded, and returns a player of what happened.

    It runs on a stack of its own, also if it is bound to an environment.

    An error that comes while it runs is not raised: it is the end of the tape, and
    `.error` of the player. An error before anything runs is raised, as it always is.

    Args:
        comp: a computation.
        args: what it is called with.
        fuse: whether steps may be taken together, as by default in a plain call.
        default_num_clients: how many clients there are when no argument says it.
        max_fanout: from this many clients on, they are put into groups of groups.
        kwargs: what it is called with by name; if a parameter has one of the three
            names above, its argument goes by position.

    Returns:
        A widget; `.result` is what the computation returned.

    Raises:
        TypeMismatchError: if `comp` is no computation, or the arguments do not fit.
        CardinalityError: if a number of clients is out of range.

    >>> import fedlearn_edu as fl
    >>> import numpy as np
    >>> total = fl.federated_computation(fl.federated_sum, fl.type_at_clients(np.int32))
    >>> player = play(total, [1, 2, 3])
    >>> player.result
    np.int32(6)
    >>> player.set(step=15)
    >>> player.sentence
    'step 15 of 81: the stack (reference resolving) calls the program; 0 B have ...'
    """
    from fedlearn_edu.viz.player.player import Player

    if not isinstance(comp, Computation | PolymorphicComputation):
        raise TypeMismatchError(
            "only computations can be played",
            expected="a computation and its arguments: play(computation, argument)",
            found=describe(comp),
            where="play",
            do="hand over the computation itself, without calling it"
            if not callable(comp)
            else "decorate the function: @federated_computation(type), …",
        )
    # Bound to an environment, it would run there, and leave nothing on the tape.
    unbound = comp if comp.home is None else comp.at_home_in(None)
    result, failure = None, None
    with record(
        fuse=fuse, default_num_clients=default_num_clients, max_fanout=max_fanout
    ) as tape:
        try:
            result = unbound(*args, **kwargs)
        except Exception as error:
            if not any(isinstance(event.made, Exception) for event in tape):
                raise
            failure = error
    return Player(tape, result, failure)


@short_traceback
def replay(tape: Tape) -> "Player":
    """Returns a player of what is on a tape; nothing runs.

    Args:
        tape: from `with fl.record() as tape:`, or from a stack of your own, if it is a
            `Tape(keep_values=True)`.

    Raises:
        TypeMismatchError: if it is no tape, or kept no values.

    >>> import fedlearn_edu as fl
    >>> replay(fl.framework.Tape()).sentence
    'The tape is empty: nothing was called while it ran.'
    """
    from fedlearn_edu.viz.player.player import Player

    _check(tape, "replay")
    return Player(tape)


@short_traceback
def draw_tape(
    tape: Tape, at: int | None = None, width_in: float = style.WIDE_IN
) -> "Figure":
    """Draws who worked when on a tape, and the bytes that moved.

    Args:
        tape: from `with fl.record() as tape:`, or from a stack of your own, if it is a
            `Tape(keep_values=True)`.
        at: the step that is pointed at, from 1; none by default.
        width_in: in inches.

    Raises:
        TypeMismatchError: if it is no tape, or kept no values.
        FigureDataError: if there is no such step.

    >>> import fedlearn_edu as fl
    >>> with fl.record() as tape:
    ...     total = fl.federated_sum(fl.place([1, 2, 3], fl.CLIENTS))
    >>> style.said(draw_tape(tape, at=3))
    'step 3 of 81: the stack (reference resolving) is handed a value of type ...'
    """
    _check(tape, "draw_tape")
    style.check_width(width_in)
    story = Story(tape)
    picture = TapePicture(story, width_in)
    if at is None:
        return style.say(picture.figure, story.summary())
    if not style.is_whole(at) or at not in range(1, len(story) + 1):
        raise style.FigureDataError(
            "there is no such step on the tape",
            expected=f"a step from 1 to {len(story)}" if len(story) else "no step",
            found=describe(at),
            where="at",
            do="leave it out, and the whole tape is drawn",
        )
    picture.point_at(at - 1)
    return style.say(picture.figure, story.sentence(at - 1))


def _check(tape: object, where: str) -> None:
    if not isinstance(tape, Tape):
        raise TypeMismatchError(
            "a tape is needed",
            expected="the tape of: with fl.record() as tape: …",
            found=describe(tape),
            where=where,
            do="record a run, or play a computation: fl.viz.play(computation, …)",
        )
