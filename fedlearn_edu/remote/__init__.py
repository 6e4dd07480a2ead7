# SPDX-License-Identifier: Apache-2.0
"""The same program with its clients in other processes or on other machines."""
