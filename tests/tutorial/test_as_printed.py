# SPDX-License-Identifier: Apache-2.0
"""The second tutorial in a process of its own: as it is printed, and under Keras 2.

The project holds no copy of the requirement texts. Where they lie beside the clone, as
MNIST may, the code cells of the second one run here, and show what it prints.
"""

import importlib.util
import re
from pathlib import Path

import pytest

from tests.programs import in_another_process
from tests.tutorial.conftest import SCRIPT
from tests.tutorial.test_second_tutorial import NUMBER, PUBLISHED

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

SEEDS = Path(__file__).parents[3] / "shared" / "seeds"
ON_MNIST = """
import sys
from pathlib import Path

from fedlearn_edu import tf
from fedlearn_edu.simulation import datasets

whole = datasets.read_mnist(Path(sys.argv[1]))
tf.keras.datasets.mnist.load_data = lambda: whole
"""
# Runs cells as a notebook does: what stands last in one is shown.
CELLS = """
import ast
import linecache

with open(sys.argv[2], encoding="utf-8") as file:
    code = file.read()
published = "import tensorflow_federated as tff"
assert code.count(published) == 1
names = {"__name__": "__main__"}
for cell in code.replace(published, "import fedlearn_edu as tff").split("# %%")[1:]:
    name = f"<cell {len(linecache.cache)}>"  # AutoGraph asks for its lines
    linecache.cache[name] = len(cell), None, cell.splitlines(keepends=True), name
    *steps, last = ast.parse(cell).body
    if not isinstance(last, ast.Expr):
        steps.append(last)
    exec(compile(ast.Module(steps, []), name, "exec"), names)
    if isinstance(last, ast.Expr):
        shown = eval(compile(ast.Expression(last.value), name, "eval"), names)
        None if shown is None else print(repr(shown))
"""
SCRIPTED = """
import runpy

assert tf.keras.optimizers.SGD.__module__.startswith("tf_keras")
runpy.run_path(sys.argv[2])
"""


def numbers(text: str) -> list[float]:
    return [float(number) for number in NUMBER.findall(text)]


def test_every_cell_runs_as_printed(
    mnist_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The import line is the only change, and all numbers in the text are ours."""
    if not (SEEDS / "002_code.py").is_file():
        pytest.skip("the requirement texts do not lie beside this clone")
    monkeypatch.setenv("MPLBACKEND", "agg")
    files = str(mnist_folder / "mnist.npz"), str(SEEDS / "002_code.py")
    told = in_another_process(ON_MNIST + CELLS, *files)
    shown = re.sub(r"np\.float32\((.*?)\)", r"\1", told)
    (text,) = SEEDS.glob("002_*.txt")
    prose = " ".join("".join(text.read_text("utf-8").split("```")[::2]).split())
    for line in shown.splitlines():
        assert NUMBER.sub("#", " ".join(line.split())) in NUMBER.sub("#", prose)
    published = [n for n in NUMBER.findall(prose) if len(n.split(".")[1]) > 4]
    assert numbers(shown) == pytest.approx(list(map(float, published)), rel=1e-5)
    assert len(published) == len(numbers(PUBLISHED))


@pytest.mark.skipif(
    importlib.util.find_spec("tf_keras") is None, reason="tf_keras is not installed"
)
def test_losses_are_the_published_ones_under_keras_2(
    mnist_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF_USE_LEGACY_KERAS", "1")
    files = str(mnist_folder / "mnist.npz"), str(SCRIPT)
    told = in_another_process(ON_MNIST + SCRIPTED, *files)
    assert numbers(told) == pytest.approx(numbers(PUBLISHED), rel=1e-5)
