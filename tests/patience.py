# SPDX-License-Identifier: Apache-2.0
"""How long tests wait for what must come: nothing but a hang takes that long.

Where time itself is measured, it is the processor's, which a busy machine leaves alone.
"""

PATIENCE_S = 600.0
