# SPDX-License-Identifier: Apache-2.0
"""The vocabulary: one file for each family, one home for each intrinsic.

Importing this room fills the registry and gives Python's operators their meaning.
"""

from fedlearn_edu.intrinsics import aggregation as aggregation
from fedlearn_edu.intrinsics import arithmetic as arithmetic
from fedlearn_edu.intrinsics import averages as averages
from fedlearn_edu.intrinsics import mapping as mapping
from fedlearn_edu.intrinsics import movement as movement
from fedlearn_edu.intrinsics import secure as secure
from fedlearn_edu.intrinsics import selecting as selecting
from fedlearn_edu.intrinsics import sequences as sequences
