# SPDX-License-Identifier: Apache-2.0
"""Every case on a cluster: the same program means what it means everywhere else."""

from collections.abc import Iterator

import pytest

import fedlearn_edu as fl
from fedlearn_edu.remote import Cluster
from fedlearn_edu.testing import assert_conforms, cases
from tests.conformance.stacks import SMOKE
from tests.programs import local
from tests.remote.programs import same_bits

RUNTIMES = [
    "numpy",
    # Every time, "mixed" has both.
    pytest.param("tensorflow", marks=[pytest.mark.tensorflow, pytest.mark.thorough]),
    pytest.param("mixed", marks=pytest.mark.tensorflow),
]


@pytest.fixture(
    scope="module",
    params=[2, pytest.param(3, marks=pytest.mark.thorough)],
    ids="groups of {}".format,
)
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with fl.remote.local(2, max_fanout=request.param, processes=False) as made:
        yield made


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_cluster_gives_what_the_reference_gives(cluster: Cluster, runtime: str) -> None:
    assert not assert_conforms(cluster.context, cases(runtime)).refused


@pytest.mark.slow
@pytest.mark.tensorflow
def test_processes_give_what_the_reference_gives() -> None:
    """The cases of each runtime that together use every primitive intrinsic."""
    some = [
        case
        for runtime in ("numpy", "tensorflow", "mixed")
        for case in cases(runtime)
        if case.name in SMOKE or case.runtime == "mixed"
    ]
    with fl.remote.local(2, max_fanout=2) as cluster:
        assert not assert_conforms(cluster.context, some).refused
        seen = {m.worker for r in cluster.traffic().rounds for m in r.messages}
        assert seen == {"worker 0", "worker 1"}


@pytest.mark.thorough
@pytest.mark.tensorflow
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_processes_give_what_the_reference_gives_in_every_case(runtime: str) -> None:
    with fl.remote.local(2, max_fanout=3) as cluster:
        assert not assert_conforms(cluster.context, cases(runtime)).refused


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # integers that wrap around
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(3), id="few"),
        pytest.param(range(3, 30), id="many", marks=pytest.mark.thorough),
    ],
)
def test_random_programs_give_the_bits_of_local_stacks(seeds: range) -> None:
    """On two sets of data each, errors included."""
    with (
        fl.remote.local(2, max_fanout=3, processes=False) as cluster,
        local(support_sequence_ops=True, max_fanout=3) as here,
    ):
        for seed in seeds:
            for runtimes in (["numpy"], ["tensorflow"], ["numpy", "tensorflow"]):
                same_bits(seed, runtimes, here, cluster.context)
