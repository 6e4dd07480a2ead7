# SPDX-License-Identifier: Apache-2.0
"""Every picture of the package with the lines that make it: `docs/gallery.md`."""
