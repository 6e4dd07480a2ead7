# SPDX-License-Identifier: Apache-2.0
"""How long a round of the second tutorial takes, beside the same round by hand.

Everything is measured in one run, so that the ratios hold whatever else the machine
does. Ours is called as a learner calls it: NumPy in, NumPy out, data and all.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import fedlearn_edu as fl
from benchmarks import by_hand, ours
from fedlearn_edu import tf
from fedlearn_edu.demo.setting import FederatedData, Options, prepare

GOAL_IMPORT_S = 0.5
GOAL_ROUND_S = 0.5
RATE = 0.1
OURS = "ours, the tutorial as published"
UNFUSED = "ours, the tutorial as published, step by step"
BY_HAND = "TensorFlow by hand, one call per client"

_IMPORT = """
import sys, time
started = time.perf_counter()
import fedlearn_edu
seconds = time.perf_counter() - started
print(seconds, "tensorflow" in sys.modules)
"""


def measure(data: str, repeats: int) -> dict[str, Any]:
    """Measures everything; `data` is the name of a data set, or `"auto"`."""
    federated = prepare(Options(data=data))
    return {
        "machine": describe_machine(),
        "data": federated.name,
        "clients": len(federated.train),
        "batches": sum(map(len, federated.train)),
        "batch_size": federated.batch_size,
        "repeats": repeats,
        "import": measure_import(repeats),
        "rounds": measure_rounds(federated, repeats),
    }


def describe_machine() -> dict[str, Any]:
    """What the numbers depend on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return {
        "processor": models[0] if models else platform.processor() or "unknown",
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": round(load, 2),
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
        "numpy": np.__version__,
    }


def measure_import(repeats: int) -> dict[str, Any]:
    """Imports the package in fresh processes; the first one only warms up the disk."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", _IMPORT], capture_output=True, check=True, text=True
        ).stdout.split()
        for _ in range(repeats + 1)
    ]
    return {
        "seconds": statistics.median(float(seconds) for seconds, _ in runs[1:]),
        "loads_tensorflow": any(loaded == "True" for _, loaded in runs),
    }


def measure_rounds(data: FederatedData, repeats: int) -> dict[str, dict[str, float]]:
    """Seconds per training round and per evaluation, and the loss after one round."""
    clients = [
        (
            np.concatenate([batch["x"] for batch in client]),
            np.concatenate([batch["y"] for batch in client]),
        )
        for client in data.train
    ]
    placed = fl.place(data.train, fl.CLIENTS, ours.BATCHES)
    in_one_leaf = "ours, each client one `Dataset.reduce`"
    loops = {
        UNFUSED: _inside(ours.as_published(data), fuse=False),
        OURS: _inside(ours.as_published(data), fuse=True),
        "ours, as its prose tells": _inside(ours.as_its_prose_tells(data), fuse=True),
        in_one_leaf: _inside(ours.in_one_leaf(data), fuse=True),
        f"{in_one_leaf}, data placed": _inside(
            ours.in_one_leaf(replace(data, train=placed)), fuse=True
        ),
        BY_HAND: by_hand.in_tensorflow(clients, data.batch_size),
        "NumPy by hand": by_hand.in_numpy(clients, data.batch_size),
    }
    return _take_turns(loops, repeats)


def _inside(loop: by_hand.Loop, *, fuse: bool) -> by_hand.Loop:
    """The same loop, on a stack of its own."""
    train, evaluate = loop
    context = fl.framework.SyncExecutionContext(
        fl.framework.local_executor_factory(support_sequence_ops=True, fuse=fuse)
    )

    def train_inside(model: by_hand.Arrays, rate: float) -> by_hand.Arrays:
        with context:
            return train(model, rate)

    def evaluate_inside(model: by_hand.Arrays) -> float:
        with context:
            return evaluate(model)

    return train_inside, evaluate_inside


def _take_turns(
    loops: dict[str, by_hand.Loop], repeats: int
) -> dict[str, dict[str, float]]:
    """Medians. All loops take turns, so that a busy moment hits each of them."""
    zero = np.zeros([784, 10], np.float32), np.zeros([10], np.float32)
    trained = {name: train(zero, RATE) for name, (train, _) in loops.items()}
    rows = {
        name: {"train_s": [], "eval_s": [], "loss": [evaluate(trained[name])]}
        for name, (_, evaluate) in loops.items()
    }
    for _ in range(repeats):
        for name, (train, evaluate) in loops.items():
            rows[name]["train_s"].append(_seconds(partial(train, zero, RATE)))
            rows[name]["eval_s"].append(_seconds(partial(evaluate, trained[name])))
    return {
        name: {key: statistics.median(values) for key, values in row.items()}
        for name, row in rows.items()
    }


def _seconds(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def report(results: dict[str, Any]) -> str:
    """The results as Markdown."""
    machine, imported, rounds = (results[k] for k in ("machine", "import", "rounds"))
    source = "real MNIST" if results["data"] == "mnist" else "the embedded digits"
    loaded = "is" if imported["loads_tensorflow"] else "is not"
    return f"""\
{machine["processor"]}, {machine["cores"]} cores, {machine["system"]}, load \
{machine["load_before"]} before; Python {machine["python"]}, TensorFlow \
{machine["tensorflow"]}, NumPy {machine["numpy"]}.

Data: {source}; {results["clients"]} clients, {results["batches"]} batches of up to \
{results["batch_size"]} examples. Median of {results["repeats"]} after one warm-up; \
× is the ratio to TensorFlow by hand.

| one round | train, ms | × | evaluate, ms | × | loss after it |
| --- | ---: | ---: | ---: | ---: | ---: |
{_rows(rounds)}

| goal | measured | at most |
| --- | ---: | ---: |
| `import fedlearn_edu` (TensorFlow {loaded} loaded) \
| {imported["seconds"]:.2f} s | {GOAL_IMPORT_S} s |
| training round, step by step \
| {rounds[UNFUSED]["train_s"]:.2f} s | {GOAL_ROUND_S} s |"""


def _rows(rounds: dict[str, dict[str, float]]) -> str:
    timed = ("train_s", "eval_s")
    lines = []
    for name, row in rounds.items():
        pairs = [
            (f"{1000 * row[k]:.1f}", f"{row[k] / rounds[BY_HAND][k]:.1f}")
            for k in timed
        ]
        cells = [name, *pairs[0], *pairs[1], f"{row['loss']:.5f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def write(results: dict[str, Any], path: Path) -> None:
    """Keeps the results for other programs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
