# SPDX-License-Identifier: Apache-2.0
"""The command that runs notebooks of TFF with one changed line."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from fedlearn_edu.tff.__main__ import changed, main

pytestmark = [pytest.mark.notebook, pytest.mark.tensorflow]
CELLS = [
    "!pip install --quiet tensorflow_federated",
    "import tensorflow_federated as tff",
    "tff.federated_computation(lambda: 'Hello, World!')()",
    "tff.simulation.datasets.celeba.load_data()",
    "1 + 1",
]


def written(path: Path, cells: list[str]) -> None:
    v4: Any = nbformat.v4
    made = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])
    path.write_text(v4.writes(made), encoding="utf-8")


def test_a_row_says_how_many_cells_ran(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "hello.ipynb", CELLS)
    written(tmp_path / "well.ipynb", CELLS[:3])
    assert main([str(tmp_path)]) == 1
    out, err = capfd.readouterr()
    *_, hello, well = out.splitlines()
    assert err == ""  # of the kernels, too
    assert hello.startswith("| hello | 5 | 4 | cell 3: FieldError: ")
    assert well == "| well | 3 | 3 |  |"


def test_other_forms_of_the_import() -> None:
    assert changed("import tensorflow_federated") == (
        "import fedlearn_edu.tff as tensorflow_federated"
    )


def test_a_folder_without_notebooks_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path, says in ((tmp_path, "no notebook"), (tmp_path / "x", "no such file")):
        with pytest.raises(SystemExit):
            main([str(path)])
        assert says in capsys.readouterr().err
