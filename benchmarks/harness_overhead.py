"""How much CPU time the harness costs: a logged training against a bare `model.fit`.

Both train the same compiled model of mnist_mlp on the same data in one process, twice a round,
there and back, so that drift hits both alike; a round gives one ratio of CPU seconds. Keras
hands its batch hooks to a thread in both, for neither has a hook of its own for a batch.

    python -m benchmarks.harness_overhead [--rounds 12] [--json]

This machine's own noise is some per cent from round to round; so the hooks' own work is timed
apart, too, where it can't hide.

Exit code 1 where the median ratio is over 1.01: the bound is 1 % of CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from generator.statistics import median, median_interval

BOUND = 0.01
# 235 steps, about 2 CPU seconds: half an epoch of the full profile, so that what the harness
# does once an epoch weighs twice as much as it does there.
SAMPLES = 30_000
_CALLS = 300


def main() -> int:
    """Measure, print, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12, help="pairs to measure (12)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    arguments = parser.parse_args()
    if arguments.rounds < 2:  # noqa: PLR2004
        parser.error("--rounds: at least 2, for an interval")
    ratios, own, epoch = measure(arguments.rounds)
    typical = median(ratios)
    low, high = median_interval(ratios) or (typical, typical)
    if arguments.json:
        record = {"workload": "mnist_mlp", "ratios": ratios, "median": typical}
        record |= {"own_cpu_s": own, "epoch_cpu_s": epoch}
        print(json.dumps(record | {"low": low, "high": high, "bound": 1 + BOUND}))
    else:
        for number, ratio in enumerate(ratios, start=1):
            print(f"round {number:2}: {ratio:.4f} × the CPU time of a bare model.fit")
        print(
            f"mnist_mlp, {len(ratios)} rounds: median {100 * (typical - 1):+.2f} % CPU time "
            f"(95 % interval {100 * (low - 1):+.2f} to {100 * (high - 1):+.2f} %); "
            f"the bound is {100 * BOUND:g} %"
        )
        print(
            f"the harness's own work: {1000 * own:.2f} ms CPU an epoch, "
            f"{100 * own / epoch:.3f} % of a bare epoch's {epoch:.2f} s"
        )
    return 0 if typical <= 1 + BOUND else 1


def measure(rounds: int) -> tuple[list[float], float, float]:
    """Return what the harness costs.

    Returns:
        The ratio of CPU times, logged over bare, of each round; the CPU seconds of the
        harness's own work in an epoch, its hooks called without a training; and those of a
        bare epoch.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    from models import hardware
    from models.registry import find_workload
    from models.run import EpochWriter
    from models.trainer import fit, log_epochs

    # On one CPU with one thread CPU time is steady: idle threads that spin are not the harness.
    hardware.use_cpus(1)
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    workload = find_workload("mnist_mlp")
    parameters = workload.parameters("full") | {"epochs": 1, "samples": SAMPLES}
    data = workload.load(parameters, "synthetic", 1)
    model = workload.build(parameters, data, False)

    def bare() -> float:
        start = time.process_time()
        model.fit(
            data.x,
            data.y,
            batch_size=parameters["batch_size"],
            epochs=1,
            verbose=0,
            validation_data=data.validation,
        )
        return time.process_time() - start

    def logged() -> float:
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            with EpochWriter(Path(folder)) as writer:
                fit(model, workload, parameters, data, 1, [log_epochs(writer)])
            return time.process_time() - start

    bare()
    logged()
    ratios, epochs = [], []
    for number in range(rounds):
        # There and back within a round, so that a drift of seconds cancels, too.
        order = (bare, logged, logged, bare)
        times = {bare: 0.0, logged: 0.0}
        for train in order if number % 2 == 0 else order[::-1]:
            times[train] += train()
        ratios.append(times[logged] / times[bare])
        epochs.append(times[bare] / 2)
    with tempfile.TemporaryDirectory() as folder, EpochWriter(Path(folder)) as writer:
        logger = log_epochs(writer)
        start = time.process_time()
        for epoch in range(_CALLS):
            logger.on_epoch_begin(epoch)
            logger.on_test_begin()
            logger.on_test_end()
            logger.on_epoch_end(epoch, {"loss": 0.5, "accuracy": 0.9})
        own = (time.process_time() - start) / _CALLS
    return ratios, own, median(epochs)


if __name__ == "__main__":
    sys.exit(main())
