# SPDX-License-Identifier: Apache-2.0
"""A run in a process of its own that is killed at a chosen point; tests start it.

    python -m tests.learning.killed FOLDER POINT

Points are counted, not timed: each call that a function of `fedlearn_edu/learning`
makes or is, and each return of one, is a point. At the given one the process sends
SIGKILL to itself; 0 means never, and then it prints how many there were, and a digest
of all the run left.
"""

import hashlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from fedlearn_edu.learning import training_loop
from fedlearn_edu.learning.checkpoints import Checkpoints
from fedlearn_edu.learning.config import Options
from fedlearn_edu.learning.pytree import flatten
from fedlearn_edu.learning.run_state import Run
from fedlearn_edu.simulation import ClientSampling, Stragglers
from tests.learning.small import mean_process, small_data

_ROOM = str(Path(training_loop.__file__).parent)


def the_run(folder: str | None) -> Run:
    """With sampling, drop-outs, shuffling, states of clients and evaluations."""
    saved = Checkpoints(folder, keep=2) if folder else None
    return training_loop.run(
        mean_process(keeps=True),
        small_data(),
        5,
        batch_size=4,
        client_sampling=ClientSampling(
            count=4, dropout=0.2, stragglers=Stragglers(deadline=2.0), seed=5
        ),
        evaluate={"test": lambda w: {"size": float(sum_of_squares(w))}},
        options=Options(shuffle_seed=9, checkpoints=saved, evaluate_every=2),
    )


def sum_of_squares(weights: Any) -> Any:
    return sum((np.asarray(leaf) ** 2).sum() for leaf in flatten(weights).values())


def digest(made: Run) -> str:
    """Of every bit that the run left, but for what a clock says."""
    found = hashlib.sha256()
    for path, leaf in flatten([made.state, made.client_states]).items():
        array = np.asarray(leaf)
        found.update(f"{path} {array.dtype} {array.shape}".encode() + array.tobytes())
    rows = [{**row, "seconds": 0} for row in made.history]
    found.update(json.dumps(rows).encode())
    return found.hexdigest()


class Points:
    """Counts points from now on, on this thread, and kills at one of them."""

    def __init__(self, deadly: int) -> None:
        self.count, self.deadly = 0, deadly
        sys.setprofile(self.called)

    def called(self, frame: Any, event: str, arg: object) -> None:
        if frame.f_code.co_filename.startswith(_ROOM):
            self.count += 1
            if self.count == self.deadly:
                os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    folder, point = sys.argv[1:]
    points = Points(int(point))
    made = the_run(folder)
    sys.setprofile(None)
    sys.stdout.write(f"{points.count} {digest(made)}\n")


if __name__ == "__main__":
    main()
