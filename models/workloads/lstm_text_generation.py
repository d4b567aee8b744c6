"""An LSTM that writes like Nietzsche (Keras' lstm_text_generation.py of 2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.data.sources import NIETZSCHE, DataMode
from models.workload import Data, Parameters, Workload

if TYPE_CHECKING:
    import keras


def load(parameters: Parameters, mode: DataMode, seed: int) -> Data:
    """Return windows of 40 characters, one-hot, and the one that follows each."""
    from models.data.text import load_windows

    return load_windows(parameters, mode, seed)


def build(parameters: Parameters, data: Data, jit_compile: bool) -> keras.Model:
    """Return the compiled model."""
    import keras

    layers = keras.layers
    characters = data.sizes["characters"]
    model = keras.Sequential(
        [
            keras.Input([parameters["inputs"], characters]),
            layers.LSTM(parameters["units"]),
            layers.Dense(characters, activation="softmax"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.RMSprop(parameters["learning_rate"]),
        loss="categorical_crossentropy",
        jit_compile=jit_compile,
    )
    return model


WORKLOAD = Workload(
    title="LSTM text generation",
    description="A recurrent network that learns the next character of Nietzsche's writings",
    full={
        "batch_size": 128,
        "epochs": 10,
        "samples": 200_285,
        "validation_samples": 0,
        "inputs": 40,
        "step": 3,
        "one_hot": True,
        "units": 128,
        "optimizer": "RMSprop",
        "learning_rate": 0.01,
        "layers": "LSTM 128, Dense softmax",
    },
    quick_steps=14,
    load=load,
    build=build,
    source=NIETZSCHE,
)
