# SPDX-License-Identifier: Apache-2.0
"""TensorFlow functions as leaf code. The only room that imports TensorFlow."""

RUNTIME = "tensorflow"
