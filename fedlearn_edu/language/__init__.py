# SPDX-License-Identifier: Apache-2.0
"""The language: Python functions become trees; importing it registers all intrinsics.

Read `computation.py`, `federated_computation.py` and `averages.py`. Each file stands on
those before it:

* calling: `context_stack`, `computation`, `decorator`
* recording: `value`, `arithmetic`, `implied`, `federated_computation`
* outside of bodies: `intrinsic`, `eager`, `federated_value`, `place`
* the intrinsics: `application`, `mapping`, `movement`, `sequences`, `aggregation`,
  `averages`, `secure`
"""

from fedlearn_edu.language import aggregation as aggregation
from fedlearn_edu.language import arithmetic as arithmetic
from fedlearn_edu.language import averages as averages
from fedlearn_edu.language import mapping as mapping
from fedlearn_edu.language import movement as movement
from fedlearn_edu.language import secure as secure
from fedlearn_edu.language import sequences as sequences
