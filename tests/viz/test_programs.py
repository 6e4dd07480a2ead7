# SPDX-License-Identifier: Apache-2.0
"""Notebooks show a computation as signature, picture and tree."""

from typing import Any

import numpy as np
import pytest

import fedlearn_edu as fl
from fedlearn_edu.dataflow.from_ir import read
from fedlearn_edu.viz import NARROW_IN, WIDE_IN
from fedlearn_edu.viz.dataflow.captions import sentence
from fedlearn_edu.viz.dataflow.drawing import draw_graph
from fedlearn_edu.viz.dataflow.passes import draw_passes
from fedlearn_edu.viz.programs import draw_computation, draw_polymorphic, draw_view
from tests.viz.dataflow import programs
from tests.viz.drawn_text import check_figure
from tests.viz.html_reader import check_html


def test_a_computation_is_signature_picture_and_tree() -> None:
    reader = check_html(draw_computation(programs.train))
    assert reader.text.startswith(f"train: {programs.train.type_signature}")
    assert programs.train.to_text() in reader.text
    assert reader.values("img", "alt") == [sentence(read(programs.train))]
    assert reader.tags["details"] == reader.tags["figure"] == 1


def test_what_the_server_sees_is_a_picture_and_a_table() -> None:
    view = fl.what_the_server_sees(programs.gather)
    reader = check_html(draw_view(view))
    assert repr(view) in reader.text
    (alt,) = reader.values("img", "alt")
    assert alt.startswith(view.sentence)


def test_phones_get_the_narrow_picture() -> None:
    reader = check_html(draw_computation(programs.average))
    (media,) = reader.values("source", "media")
    assert media == "(max-width:640px)"
    assert reader.values("source", "srcset") != reader.values("img", "src")


def test_a_computation_without_types_says_so() -> None:
    polymorphic: Any = fl.federated_computation(lambda x, y: x)
    reader = check_html(draw_polymorphic(polymorphic))
    assert reader.text.startswith("lambda(x, y) has no type yet")
    assert reader.tags["img"] == 0


def test_what_has_no_picture_says_why() -> None:
    @fl.federated_computation(np.float32)
    def long(x: Any) -> Any:
        for _ in range(100):
            x = programs.double(x)
        return x

    reader = check_html(draw_computation(long))
    assert "this program is too long for one picture" in reader.text
    assert reader.tags["img"] == 0
    assert reader.tags["details"] == 1


def test_a_function_that_belongs_to_a_body_says_so() -> None:
    found = []

    @fl.federated_computation(np.float32)
    def outer(x: Any) -> Any:
        inner = fl.federated_computation(lambda y: programs.add(x, y), np.float32)
        found.append(inner)
        return inner(x)

    (inner,) = found
    text = check_html(draw_computation(inner)).text
    assert "uses the value 'x' of the computation it was defined in" in text
    assert outer(1.0) == 2.0


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize("width_in", [WIDE_IN, NARROW_IN], ids=str)
def test_a_round_of_scaffold_fits_on_a_page_and_on_a_phone(width_in: float) -> None:
    model = fl.learning.models.softmax_regression()
    step = fl.learning.build_scaffold(model, 5, 0.1).next
    check_figure(draw_graph(step, width_in=width_in))
    check_figure(draw_graph(step, expanded=True, width_in=width_in))
    check_figure(draw_passes(step, width_in=width_in))


@pytest.mark.tensorflow
def test_a_learning_process_shows_what_travels_in_a_round() -> None:
    from fedlearn_edu.viz.programs import draw_process

    model = fl.learning.models.softmax_regression()
    process = fl.learning.build_scaffold(model, 5, 0.1)
    reader = check_html(draw_process(process))
    assert reader.text.startswith("SCAFFOLD of a softmax regression 784-10")
    assert f"initialize: {process.initialize.type_signature}" in reader.text
    assert f"next: {process.next.type_signature}" in reader.text
    (alt,) = reader.values("img", "alt")
    assert alt.startswith(
        "next_round: the server sends state.weights (<weights=float32[784,10],"
        "bias=float32[10]>, 31.4 kB) to every client; "
    )
    assert alt.endswith("data and client_states stay with the clients.")
