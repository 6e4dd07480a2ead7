# SPDX-License-Identifier: Apache-2.0
"""Errors of tracing in our words: what the body did, in which line, what to write.

`computation.py` hands in what a body has raised: usually, a tensor was asked for the
value that it does not have yet, and TensorFlow or NumPy answered with a page.
"""

import re
from traceback import format_tb, walk_tb

from fedlearn_edu.errors import FedLearnError, TracingError, line_in, line_of
from fedlearn_edu.runtimes.tensorflow.library import tf

_A_SETTING = "a tensor as a setting of a Keras optimizer that has to be a number"
_A_NUMBER = "a number, as in SGD(learning_rate, momentum=0.9): the rate may be a tensor"
_A_LOOP = "a loop over a sequence, which is a dataset (by for, in, list, max, sum, …)"
_REDUCED = (
    "x.reduce(start, step) or x.map(…); for a `for`, put @tf.function below the "
    "decorator"
)
_KERAS = re.compile(r"keras\W.*\Woptimizers\W")
# A pattern of a message of theirs: what was done, and what to write instead.
# `{0}` is the first group of the pattern.
_WHAT_TO_WRITE = {
    r"symbolic tf.Tensor .* to a numpy array": ("NumPy code on a tensor", ""),
    r"^(float|int)\(\) argument": ("{0}() of a tensor", "tf.cast(x, tf.{0}32)"),
    r"as a Python `bool`": (
        "`if`, `while`, `and`, `or`, `not` or `max` on a tensor",
        "tf.where or tf.cond, or put @tf.function below the decorator: AutoGraph makes "
        "them of `if` and `while` in a def",
    ),
    r"Iterating over a symbolic": (
        "a loop over a tensor",
        "tf.reduce_sum, tf.map_fn, …, or put @tf.function below the decorator",
    ),
    r"SymbolicTensor' object cannot be interpreted": (
        "range() of a tensor",
        "tf.range(x)",
    ),
    r"len is not well defined": (
        "len() of a tensor",
        "tf.shape(x)[0]; for a loop over rows, tf.reduce_sum and others do without",
    ),
    r"Tensor' object does not support item": (
        "an assignment to a part of a tensor",
        "tf.tensor_scatter_nd_update, or a tf.Variable",
    ),
    r"SymbolicTensor' object has no attribute '(\w+)'": (".{0} of a tensor", ""),
    r"OrderedDict' object has no attribute '(\w+)'": (
        ".{0} of an OrderedDict",
        'its name in brackets: x["{0}"]',
    ),
    r"OrderedDict.* of type 'SymbolicTensor'": (
        "arithmetic with a whole OrderedDict",
        'it for each field: model["weights"], model["bias"]',
    ),
    r"Expected (\w+) passed .* of type '(\w+)'": (
        "{0} beside a Python {1}",
        "tf.cast(x, tf.float32)",
    ),
    r"has type (\w+) that does not match type (\w+)": (
        "{1} beside {0}",
        "tf.cast(x, tf.float32), say, so that both have one dtype (if they are the "
        "two you meant)",
    ),
    r"numpy\(\) is only available": (
        ".numpy() of a variable",
        "x.read_value(); and let an inner function use a Keras variable, not take it",
    ),
    r"`learning_rate` should be float.*=(?:Tensor\(|<tf\.)": (
        "a tensor as learning rate, which this Keras does not take",
        "it as a function: SGD(lambda: learning_rate)",
    ),
    r"`momentum` must be a float": (_A_SETTING, _A_NUMBER),
    r"optimizers\.legacy` is not supported": (
        "an optimizer of Keras 2, in Keras 3",
        "tf.keras.optimizers.SGD(…), say, without `legacy`",
    ),
    r"Variable' object has no attribute 'path'": (
        "a tf.Variable, where this optimizer wants a variable of Keras",
        "tf.keras.Variable(x); an inner function uses it, and does not take it",
    ),
    r"get_next\(\)` calls was detected": (_A_LOOP, _REDUCED),
    r"(?:operand type|instances of|elements of <|but got <).*Dataset"
    r"|Dataset(?:' object|.* only support)": (
        "a sequence, which is a dataset, taken for a tensor or a list",
        "x.map(…) for each element, x.reduce(…) for all of them",
    ),
}
_SPELLINGS = {
    "array": "tf.stack(x)",
    "astype": "tf.cast(x, tf.float32)",
    "numpy": "x itself",
}
_IN_USER_CODE = re.compile(r'File "(.*?)", line (\d+), in .* \*\n\s+(.*)')


def refusal(error: Exception, name: str) -> Exception | None:
    """The same error in our words; `None` for one that is the body's own."""
    if isinstance(error, FedLearnError):
        return None
    text, place = str(error), line_of(error)
    if quoted := _IN_USER_CODE.findall(text):  # AutoGraph keeps no other trace of it
        file, line, code = quoted[-1]
        place, text = f"{line_in(file, int(line))}: {code}", text.split("Error: ")[-1]
    found, cure = _what_to_write(text, place or "")
    if "as a Python `bool`" in text and _KERAS.search(_raised_in(error)):
        found, cure = _A_SETTING, _A_NUMBER
    elif "as a Python `bool`" in text and _has_read_an_element(error):
        found, cure = _A_LOOP, _REDUCED
    if not found:
        return None
    return TracingError(
        f"TensorFlow cannot make a graph of {name}",
        expected="TensorFlow code: it runs once, on tensors that have no values yet",
        found=found,
        where=place,
        do=f"write {cure}",
    )


def _has_read_an_element(error: Exception) -> bool:
    """Whether the tensor that raised it stands in a graph that reads a dataset."""
    *_, (frame, _) = walk_tb(error.__traceback__)
    graph = getattr(frame.f_locals.get("self"), "graph", None)
    operations = graph.get_operations() if graph else []
    return any(each.type == "IteratorGetNext" for each in operations)


def _raised_in(error: Exception) -> str:
    """The file of the last line that is none of TensorFlow's own."""
    lines = "".join(format_tb(error.__traceback__)) + str(error)
    files: list[str] = re.findall(r'File "(.*?)"', lines)
    return next((f for f in reversed(files) if "tensorflow" not in f), "")


def _what_to_write(text: str, line: str) -> tuple[str, str]:
    for pattern, (found, cure) in _WHAT_TO_WRITE.items():
        if match := re.search(pattern, text):
            spelled = cure.format(*match.groups()) or _spelling(line, *match.groups())
            return found.format(*match.groups()), spelled
    return "", ""


def _spelling(line: str, attribute: str = "") -> str:
    """TensorFlow's name for what NumPy does, or what an array has."""
    for name in [attribute] if attribute else re.findall(r"\bnp\.(\w+)\(", line):
        for module, prefix in ((tf, "tf."), (tf, "tf.reduce_"), (tf.math, "tf.math.")):
            known = f"{prefix.split('.')[-1]}{name}"
            if name in _SPELLINGS or hasattr(module, known):
                return _SPELLINGS.get(name, f"{prefix}{name}(x)")
    return "the same with functions of tf, or use an np_computation"
