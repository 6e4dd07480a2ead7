# SPDX-License-Identifier: Apache-2.0
"""The main job: ten clients that each know one digit learn all ten together.

`setting` chooses data and numbers, `program` is the federated program in our language,
`run` runs it and records what happens, `report` and `pictures` show it. Start reading
at `program`: it is what a learner would write.
"""
