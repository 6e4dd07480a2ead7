# SPDX-License-Identifier: Apache-2.0
"""Pictures with controls. Each explorer is one file: a picture, and a function."""
