# SPDX-License-Identifier: Apache-2.0
"""`single_executor` under its former name, which copies of lesson 7 still import."""

from fedlearn_edu.course.single_executor import SingleExecutorStrategy as OneRoom

__all__ = ["OneRoom"]
