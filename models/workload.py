"""What a workload is: its parameters in each profile, its data and its model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from models.manifest import WARMUP_EPOCHS, DatasetUsed, Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from models.data.sources import DataMode, Source

Parameters = dict[str, Any]

PROFILES: tuple[Profile, ...] = ("full", "quick", "smoke")
# One warm-up epoch, and two timed ones: two show whether they differ.
_QUICK_EPOCHS = WARMUP_EPOCHS["quick"] + 2
_SMOKE_EPOCHS = WARMUP_EPOCHS["smoke"] + 1
_SMOKE_STEPS = 2


@dataclass(frozen=True)
class Data:
    """A workload's data, ready to be fed.

    Attributes:
        x: the inputs, an array of ``samples`` first.
        y: the targets: an array, or one for each output by its name.
        validation: inputs and targets to validate on; None where there is no validation.
        used: which data set this is, and whether it is the real one.
        sizes: what the model must know of the data, such as the size of its vocabulary.
    """

    x: Any
    y: Any
    validation: tuple[Any, Any] | None
    used: DatasetUsed
    sizes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Workload:
    """One Keras training script: a model, its data, its batch size and epochs.

    Attributes:
        title: a name for readers.
        description: one line: what it is.
        full: the parameters of the profile ``full``; all that defines the work is in them:
            ``batch_size``, ``epochs``, ``samples``, ``validation_samples`` and its own.
        quick_steps: steps an epoch in the profile ``quick``.
        load: (parameters, data mode, seed) to the data.
        build: (parameters, data, jit_compile) to a compiled Keras model.
        source: the file of its real data.
        short: parameters that differ in the short profiles.
        feed: (parameters, data, seed) to a ``tf.data`` pipeline of batches, where the inputs
            are changed on their way to the model; None where they are fed as they are.
    """

    title: str
    description: str
    full: Parameters
    quick_steps: int
    load: Callable[[Parameters, DataMode, int], Data]
    build: Callable[[Parameters, Data, bool], Any]
    source: Source
    short: Parameters = field(default_factory=dict)
    feed: Callable[[Parameters, Data, int], Any] | None = None

    def parameters(self, profile: Profile) -> Parameters:
        """Return the parameters of a profile.

        The short profiles keep the model, the batch and the shapes, and take a few steps'
        samples; validation keeps its proportion to training.
        """
        if profile == "full":
            return dict(self.full)
        steps = self.quick_steps if profile == "quick" else _SMOKE_STEPS
        samples = steps * self.full["batch_size"]
        share = self.full["validation_samples"] / self.full["samples"]
        return (
            self.full
            | self.short
            | {
                "epochs": _QUICK_EPOCHS if profile == "quick" else _SMOKE_EPOCHS,
                "samples": samples,
                "validation_samples": round(share * samples),
                "steps_per_epoch": steps,
            }
        )
