# SPDX-License-Identifier: Apache-2.0
"""`tff.learning.models`: what can be trained."""

from fedlearn_edu.former_names import answering
from fedlearn_edu.tff.learning.keras_models import (
    from_keras_model,
    functional_model_from_keras,
)
from fedlearn_edu.tff.learning.model_forms import (
    BatchOutput,
    FunctionalModel,
    ModelWeights,
    VariableModel,
    weights_type_from_model,
)

__all__ = [
    "BatchOutput",
    "FunctionalModel",
    "ModelWeights",
    "VariableModel",
    "from_keras_model",
    "functional_model_from_keras",
    "weights_type_from_model",
]


# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []

__getattr__ = answering("fedlearn_edu.tff.learning.models", __all__)
