# SPDX-License-Identifier: Apache-2.0
"""A runtime in three parts: code, a decorator that makes it, an executor that runs it.

Data are in JAX's form here: its arrays, a `Struct` of them, a list for a sequence.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np

import fedlearn_edu as fl
from fedlearn_edu import framework
from fedlearn_edu.framework import Computation, ir

RUNTIME = "jax"

# JAX's transformations look into containers they know; a Struct is one from here on.
jax.tree_util.register_pytree_node(
    fl.Struct,
    lambda struct: (tuple(struct), struct.names()),
    lambda names, values: fl.Struct(zip(names, values, strict=True)),
)


@final
@dataclass(frozen=True)
class JAXCode:
    """Leaf code: a function of data in JAX's form that JAX can trace, and its type."""

    name: str
    function: Callable[[Any], Any]
    type: fl.FunctionType
    digest: str = field(default_factory=lambda: uuid.uuid4().hex)

    @cached_property
    def compiled(self) -> Any:
        """The same function as XLA runs it; compiled again for other sizes."""
        result = self.type.result
        return jax.jit(lambda given: _packed(self.function(given), result))

    def __call__(self, argument: Any) -> Any:
        """Runs it on plain data, for contexts that have no `JAXExecutor`."""
        executor, parameter = JAXExecutor(), self.type.parameter
        data = None if parameter is None else executor.embed(argument, parameter)
        return executor.extract(executor.run(self, data, self.type), self.type.result)


def trace(
    fn: Callable[..., Any], names: Sequence[str], parameter: fl.Type | None, name: str
) -> Computation:
    """`fn` as a computation of one leaf; the decorator found names and parameter."""

    def call(argument: Any) -> Any:
        arguments = [] if parameter is None else [argument]
        if len(names) > 1:
            is_named = set(names) == set(argument.names())
            keys: Sequence[Any] = names if is_named else range(len(names))
            arguments = [argument[key] for key in keys]
        with JAXContext():
            return jax.tree.map(_as_array, fn(*arguments))

    # Two sizes tell dimensions that follow the input from those that are fixed.
    samples = [None if parameter is None else _sample(parameter, n) for n in (2, 3)]
    try:
        with jax.enable_x64(True):
            result = _type_of(*(jax.eval_shape(call, each) for each in samples))
    except (jax.errors.JAXTypeError, jax.errors.JAXIndexError) as error:
        raise fl.errors.TracingError(
            f"JAX cannot trace {name}: {str(error).splitlines()[0]}",
            do="call jnp in place of np, and jnp.where in place of an if on values",
        ) from error
    if result is None:
        raise fl.errors.TracingError(f"{name} returned nothing", do="add a return")
    code = JAXCode(name, call, fl.FunctionType(parameter, result))
    return Computation(ir.Leaf(RUNTIME, code, code.type), name, fn.__doc__)


@final
class JAXContext(framework.Context):
    """What a call inside JAX code means: the other function is traced, too."""

    has_placements = False

    def invoke(self, computation: Computation, argument: Any) -> Any:
        """Calls leaf code of JAX on arrays that are being traced."""
        code = getattr(computation.tree, "code", None)
        if not isinstance(code, JAXCode):
            raise fl.errors.TracingError(
                f"JAX code can call JAX code only, and {computation.__name__} is none",
                do="call it beside the JAX code, in a federated_computation",
            )
        if code.type.parameter is not None:
            argument = jax.tree.map(_as_array, argument)
            found, where = _type_of(argument, argument), f"{code.name}'s argument"
            code.type.parameter.check_assignable_from(found, where=where)
            argument = _packed(argument, code.type.parameter)
        return code.function(argument)


def _as_array(leaf: Any) -> Any:
    # Python's numbers are `int32` and `float32`, as everywhere in the language.
    return jnp.asarray(leaf, {int: np.int32, float: np.float32}.get(type(leaf)))


def _type_of(first: Any, second: Any) -> Any:
    """The type of two results, with `?` where their sizes differ."""

    def joined(a: Any, b: Any) -> fl.Type:
        sizes = zip(a.shape, b.shape, strict=True)
        return fl.TensorType(a.dtype, [n if n == m else None for n, m in sizes])

    return fl.to_type(jax.tree.map(joined, first, second))


def _packed(value: Any, type_: fl.Type) -> Any:
    """Arrays in containers of any kind, in a `Struct` for each."""
    if not isinstance(type_, fl.StructType):
        return value
    parts = jax.tree.leaves(value, is_leaf=lambda part: part is not value)
    return _struct(type_, [*map(_packed, parts, type_)])


def _sample(type_: fl.Type, size: int) -> Any:
    """What JAX traces on; each `?` and each sequence is of this size."""
    match type_:
        case fl.StructType():
            return _struct(type_, [_sample(part, size) for part in type_])
        case fl.SequenceType(element):
            return [_sample(element, size)] * size
        case fl.TensorType(dtype, tuple(shape)) if dtype != "O":
            sizes = [size if n is None else n for n in shape]
            return jax.ShapeDtypeStruct(sizes, dtype)
    raise fl.errors.TypeMismatchError(
        "JAX code takes numbers, in structures or sequences",
        found=type_,
        do="use an np_computation for text",
    )


def _struct(type_: fl.StructType, values: Sequence[Any]) -> fl.Struct:
    return fl.Struct(zip(type_.names(), values, strict=True))


jax_computation = framework.Decorator(
    "jax_computation",
    trace,
    """Makes a computation of a function on arrays of JAX, which `jax.jit` compiles.

    >>> import numpy as np
    >>> from examples.jax_runtime import jax_computation
    >>> add = jax_computation(lambda a, b: a + b, np.float32, np.float32)
    >>> print(add.type_signature, add(1, 2))
    (<a=float32,b=float32> -> float32) 3.0
    """,
)


@final
class JAXExecutor(framework.LeafExecutor):
    """Runs JAX code; arrays stay with JAX between two calls. Text stays as it is."""

    runtime = RUNTIME

    def embed(self, plain: Any, type_: fl.Type) -> Any:
        """Makes arrays of JAX; 64 bits where the type says so."""
        with jax.enable_x64(True):
            return self._converted(plain, type_, jnp.asarray)

    def run(self, code: Any, argument: Any, type_: fl.FunctionType) -> Any:
        """Calls compiled code, or, on plain data, what all runtimes have in common."""
        if isinstance(code, JAXCode):
            with jax.enable_x64(True):
                return code.compiled(argument)
        parameter = type_.parameter
        plain = None if parameter is None else self.extract(argument, parameter)
        return self.embed(code(plain), type_.result)

    def extract(self, data: Any, type_: fl.Type) -> Any:
        """Waits for JAX, and makes arrays and scalars of NumPy."""
        return self._converted(data, type_, lambda array: np.asarray(array)[()])

    def _converted(self, data: Any, type_: fl.Type, convert: Any) -> Any:
        match type_:
            case fl.StructType():
                parts = zip(data, type_, strict=True)
                return _struct(type_, [self._converted(*p, convert) for p in parts])
            case fl.SequenceType(element):
                return [self._converted(item, element, convert) for item in data]
            case fl.TensorType(dtype) if dtype != "O":
                return convert(data)
        return data


framework.register_runtime(RUNTIME, JAXExecutor)
