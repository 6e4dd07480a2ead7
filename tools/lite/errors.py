# SPDX-License-Identifier: Apache-2.0
"""The one error of `make lite`."""

from fedlearn_edu.errors import FedLearnError


class LiteError(FedLearnError, RuntimeError):
    """The site cannot be built; the lines say what is missing and where it belongs."""
