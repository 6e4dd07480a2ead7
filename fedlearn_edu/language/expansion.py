# SPDX-License-Identifier: Apache-2.0
"""A derived intrinsic at one type, written out as a function of the language.

The compiler puts it in the place of the intrinsic, before anything runs; an executor
that is asked for a derived intrinsic runs it instead (`executors/federating.py`).
"""

from functools import lru_cache

from fedlearn_edu.errors import TypeMismatchError, UnsupportedIntrinsicError
from fedlearn_edu.ir import nodes as ir
from fedlearn_edu.language.arguments import parameter_names
from fedlearn_edu.language.federated_computation import trace_federated
from fedlearn_edu.language.intrinsic import IntrinsicDef
from fedlearn_edu.types import FunctionType


@lru_cache(maxsize=1024)
def expansion(definition: IntrinsicDef, type_: FunctionType) -> ir.Node:
    """The function that a derived intrinsic stands for; may hold intrinsics itself."""
    if definition.expand is None:
        raise UnsupportedIntrinsicError(
            f"{definition.uri} is a primitive, and nobody here implements it",
            expected="an intrinsic of the language, or one with an expansion",
            found=f"{definition.uri}: {type_}",
            do="run it on a stack whose strategy implements it, "
            "or give its definition an expand function",
        )
    names = parameter_names(definition.expand)
    uri = definition.uri
    tree = trace_federated(definition.expand, names, type_.parameter, uri).tree
    found = ir.function_type_of(tree).result
    if not type_.result.is_assignable_from(found):
        raise TypeMismatchError(
            f"{uri} does not return what its signature promises",
            expected=f"{type_.result}, by {' or '.join(definition.signatures)}",
            found=found,
            where=f"the definition of {uri}",
            do="return a value of that type, or correct the signature in `derived`",
        )
    return tree
