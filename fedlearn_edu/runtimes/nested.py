# SPDX-License-Identifier: Apache-2.0
"""What leaf code of either runtime refuses: a call that it cannot evaluate."""

from typing import Any

from fedlearn_edu.compiler.expand_intrinsics import obstacle
from fedlearn_edu.errors import ContextError
from fedlearn_edu.language.computation import Computation


def check_obstacle(computation: Computation, kind: str, code: str, *known: Any) -> None:
    """Refuses a call, inside leaf code of this kind, that the runtime cannot evaluate.

    `known` is the name of the runtime and what it knows, as `obstacle` takes them.
    """
    found = obstacle(computation.tree, *known)
    if found is not None:
        raise ContextError(
            f"{computation.__name__} cannot be called inside {kind}",
            expected=f"a computation of {code} code and sequence intrinsics",
            found=found,
            where=computation,
            do="call both from a federated_computation",
        )
