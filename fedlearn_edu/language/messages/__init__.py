# SPDX-License-Identifier: Apache-2.0
"""Every error of the language, as text; what raises them reads as logic.

Each function builds one error, in the order in which a learner may meet it.
"""
