"""A text generator with embeddings and two outputs (minimaxir's text_generator_keras, 2017)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from models.data.sources import NIETZSCHE, DataMode
from models.workload import Data, Parameters, Workload

if TYPE_CHECKING:
    import keras


def load(parameters: Parameters, mode: DataMode, seed: int) -> Data:
    """Return windows of 40 characters as numbers, and what follows each, for both outputs."""
    from models.data.text import load_windows

    data = load_windows(parameters, mode, seed)
    return replace(data, y={"output": data.y, "auxiliary": data.y})


def build(parameters: Parameters, data: Data, jit_compile: bool) -> keras.Model:
    """Return the compiled model: the auxiliary output stands on the LSTM, the main one above."""
    import keras

    layers = keras.layers
    characters = data.sizes["characters"]
    inputs = keras.Input([parameters["inputs"]], dtype="int32")
    vectors = layers.Embedding(characters, 300)(inputs)
    state = layers.LSTM(parameters["units"])(vectors)
    auxiliary = layers.Dense(characters, activation="softmax", name="auxiliary")(state)
    hidden = state
    for units in (512, 256):
        hidden = layers.Dense(units, use_bias=False)(hidden)
        hidden = layers.BatchNormalization()(hidden)
        hidden = layers.Activation("relu")(hidden)
    output = layers.Dense(characters, activation="softmax", name="output")(hidden)
    model = keras.Model(inputs, {"output": output, "auxiliary": auxiliary})
    model.compile(
        optimizer=keras.optimizers.Adam(parameters["learning_rate"]),
        loss={"output": "categorical_crossentropy", "auxiliary": "categorical_crossentropy"},
        loss_weights={"output": 1.0, "auxiliary": parameters["auxiliary_weight"]},
        jit_compile=jit_compile,
    )
    return model


WORKLOAD = Workload(
    title="Text generator with embeddings",
    description="Character vectors, an LSTM with an auxiliary output, and two dense layers above",
    full={
        "batch_size": 128,
        "epochs": 10,
        "samples": 200_285,
        "validation_samples": 0,
        "inputs": 40,
        "step": 3,
        "one_hot": False,
        "units": 128,
        "auxiliary_weight": 0.2,
        "optimizer": "Adam",
        "learning_rate": 0.001,
        "layers": "Embedding 300, LSTM 128, auxiliary softmax (weight 0.2); Dense 512 and 256 with "
        "batch normalization, softmax",
    },
    quick_steps=6,
    load=load,
    build=build,
    source=NIETZSCHE,
)
