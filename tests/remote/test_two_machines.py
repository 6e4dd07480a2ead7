# SPDX-License-Identifier: Apache-2.0
"""The recipe for two machines in `docs/cluster.md`, run on one, as it stands there."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, read, section
from tests.patience import PATIENCE_S

# Federated averaging, as lessons 01 to 10 teach it, without a word about where it runs.
PROGRAM = """
import hashlib
import numpy as np
import fedlearn_edu as fl
{lines}
model = fl.learning.models.softmax_regression(features=4, classes=2)
process = fl.learning.build_fed_avg(model, client_learning_rate=0.5)
rng = np.random.default_rng(0)
data = [[{{"x": rng.random((5, 4)), "y": rng.integers(0, 2, 5)}}] for _ in range(6)]
state = process.initialize()
for _ in range(3):
    state, metrics = process.next(state, data)
print(hashlib.sha256(b"".join(w.tobytes() for w in state.weights.values())).hexdigest())
"""


def _blocks(heading: str, folder: Path, port: int) -> dict[str, list[str]]:
    """The fenced blocks below a heading, by language, for this machine."""
    text = section(DOCS / "cluster.md", heading)
    text = text.replace("192.168.1.10", "127.0.0.1").replace("8786", str(port))
    found: dict[str, list[str]] = {}
    for language, block in re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL):
        block = block.replace("/srv/fedlearn", str(folder))
        found.setdefault(language, []).append(re.sub("(?m)^   ", "", block))
    return found


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.tensorflow
@pytest.mark.skipif(not shutil.which("openssl"), reason="the recipe takes openssl")
def test_two_lines_and_the_page_take_federated_averaging_to_two_workers(
    tmp_path: Path, port: int
) -> None:
    two_lines, *_ = _blocks("## From the class room to a real cluster", tmp_path, port)[
        "python"
    ]
    recipe = _blocks("### Two machines", tmp_path, port)
    make_certificate, scheduler, worker = recipe["bash"]
    [settings] = recipe["yaml"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "DASK_CONFIG": str(tmp_path), "PATH": path}
    subprocess.run(
        ["sh", "-e", "-c", make_certificate], check=True, capture_output=True
    )
    (tmp_path / "fedlearn.yaml").write_text(settings)

    def printed(lines: str) -> str:
        program = [sys.executable, "-c", PROGRAM.format(lines=lines)]
        run = subprocess.run(
            program, env=environ, capture_output=True, text=True, timeout=PATIENCE_S
        )
        assert (run.returncode, run.stderr) == (0, "")
        return run.stdout

    with ExitStack() as ending:
        for command in (scheduler, worker, worker):
            log = ending.enter_context((tmp_path / "log").open("ab"))
            process = subprocess.Popen(
                shlex.split(command), env=environ, stdout=log, stderr=log
            )
            ending.callback(process.wait)
            ending.callback(process.terminate)
        there = printed(two_lines)
    assert "Starting Worker plugin fedlearn-edu" in read(tmp_path / "log")
    assert there == printed("")
