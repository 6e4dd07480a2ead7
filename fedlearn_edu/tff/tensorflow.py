# SPDX-License-Identifier: Apache-2.0
"""`tff.tensorflow`: what newer programs write for `tff.tf_computation`."""

from fedlearn_edu.former_names import answering
from fedlearn_edu.runtimes.tensorflow.computation import tf_computation as computation
from fedlearn_edu.types import to_type

__all__ = ["computation", "to_type"]


# As a package has one: then `from … import` asks for a submodule, and is answered.
__path__: list[str] = []

__getattr__ = answering("fedlearn_edu.tff.tensorflow", __all__)
