# SPDX-License-Identifier: Apache-2.0
"""How long the first picture of an explorer takes; nothing fails if it is slow."""

import time

import pytest

from fedlearn_edu import viz
from tests.patience import PATIENCE_S

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.thorough]

NAMES = ("mean", "aggregation", "partitions", "training", "drift")


def test_each_explorer_is_there_soon(report: dict[str, float]) -> None:
    import ipywidgets  # noqa: F401, it is loaded once for all of them

    viz.explore_mean([1.0])
    for name in NAMES:
        begin = time.perf_counter()
        explorer = getattr(viz, f"explore_{name}")()
        bundle = explorer._repr_mimebundle_()
        report[f"first picture: {name}"] = 1000 * (time.perf_counter() - begin)
        assert bundle["image/png"]
        if explorer.job:
            explorer.job.stop()
            explorer.job.wait(PATIENCE_S)
