# SPDX-License-Identifier: Apache-2.0
"""The main job: ten clients that each know one digit learn all ten together.

`setting` chooses data and numbers, `run` does what a learner would write, and keeps
`records`; `report`, `published` and `pictures` show them.
"""
