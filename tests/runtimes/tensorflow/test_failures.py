# SPDX-License-Identifier: Apache-2.0
"""What TensorFlow reports, in one paragraph."""

import pytest

from fedlearn_edu import tf
from fedlearn_edu.errors import ComputationFailedError
from fedlearn_edu.runtimes.tensorflow.conversion import explained, unwrapped, wrapped

pytestmark = pytest.mark.tensorflow
PAGES = """Graph execution error:

Detected at node 'Assert' defined at (most recent call last):
  File "a.py", line 1, in <module>
{{function_node __inference_f_12}} assertion failed: [too large]
\t [[{{node Assert}}]] [Op:__inference_f_12]"""


def test_the_reason_is_told_without_the_pages_about_graphs() -> None:
    error = explained(tf.errors.InvalidArgumentError(None, None, PAGES), "in f")
    assert isinstance(error, ComputationFailedError)
    assert error.summary == "TensorFlow reported an error in f"
    assert error.found == "InvalidArgumentError: assertion failed: [too large]"


def test_a_prefix_that_names_a_node_is_left_out() -> None:
    text = "{{function_node __wrapped__IteratorGetNext_device_CPU:0}} it broke"
    error = explained(tf.errors.UnknownError(None, None, text), "in element 1")
    assert "UnknownError: it broke" in str(error)


def test_an_error_of_the_users_own_comes_back_as_itself() -> None:
    original = KeyError("mine")
    quoting = tf.errors.UnknownError(None, None, f"KeyError: {wrapped(original)}")
    assert explained(quoting, "in f") is original


def test_an_error_that_is_not_of_tensorflow_says_only_where() -> None:
    error = ValueError("mine")
    assert explained(error, "in element 2 of a dataset") is error
    assert error.__notes__ == ["  in element 2 of a dataset"]


def quoted(error: Exception) -> Exception:
    """What is left of an error after a pipeline has passed it on."""
    return RuntimeError(f"{{node}} UnknownError: {wrapped(error)} [Op:Next] name:")


def test_an_error_is_found_again_behind_its_quotation() -> None:
    original = KeyError("mine")
    assert unwrapped(quoted(original), "elsewhere") is original
    assert not hasattr(original, "__notes__")


def test_a_quotation_of_a_quotation_leads_to_the_first() -> None:
    original = KeyError("mine")
    assert unwrapped(quoted(unwrapped(quoted(original)))) is original


def test_the_text_still_says_what_went_wrong() -> None:
    assert "mine" in str(wrapped(ValueError("mine")))


@pytest.mark.parametrize("text", ["", "[fedlearn_edu failure 123456789] gone"])
def test_an_error_that_quotes_nothing_known_stays_as_it_is(text: str) -> None:
    error = RuntimeError(text)
    assert unwrapped(error) is error
    assert not hasattr(error, "__notes__")
    assert unwrapped(error, "in element 3") is error
    assert error.__notes__ == ["  in element 3"]


def test_errors_are_not_kept_forever() -> None:
    first = quoted(KeyError("first"))
    for number in range(200):
        wrapped(KeyError(number))
    assert unwrapped(first) is first
