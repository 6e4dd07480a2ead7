# SPDX-License-Identifier: Apache-2.0
"""What the algorithms of `fedlearn_edu.learning` reach on MNIST: half an hour."""
