# SPDX-License-Identifier: Apache-2.0
"""Python functions become trees; the current context says what calling one means."""
