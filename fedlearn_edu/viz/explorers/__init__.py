# SPDX-License-Identifier: Apache-2.0
"""Pictures with controls: a module per explorer, and the frame they share."""
