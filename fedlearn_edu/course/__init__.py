# SPDX-License-Identifier: Apache-2.0
"""What lessons need around them: checks, hints, progress, and the way to begin."""
