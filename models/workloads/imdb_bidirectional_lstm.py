"""A bidirectional LSTM on IMDb (Keras' imdb_bidirectional_lstm.py of 2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.data.sources import IMDB, DataMode
from models.workload import Data, Parameters, Workload

if TYPE_CHECKING:
    import keras


def load(parameters: Parameters, mode: DataMode, seed: int) -> Data:
    """Return reviews as their last 100 words."""
    from models.data.reviews import load_reviews

    return load_reviews(parameters, mode, seed)


def build(parameters: Parameters, data: Data, jit_compile: bool) -> keras.Model:
    """Return the compiled model."""
    import keras

    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input([parameters["inputs"]], dtype="int32"),
            layers.Embedding(data.sizes["vocabulary"], 128),
            layers.Bidirectional(layers.LSTM(parameters["units"])),
            layers.Dropout(0.5),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(),
        loss="binary_crossentropy",
        metrics=["accuracy"],
        jit_compile=jit_compile,
    )
    return model


WORKLOAD = Workload(
    title="Bidirectional LSTM on IMDb",
    description="A recurrent network that reads a film review from both ends",
    full={
        "batch_size": 32,
        "epochs": 4,
        "samples": 25_000,
        "validation_samples": 25_000,
        "inputs": 100,
        "words": 20_000,
        "units": 64,
        "optimizer": "Adam",
        "layers": "Embedding 128, Bidirectional LSTM 64, Dropout 0.5, Dense 1 sigmoid",
    },
    quick_steps=13,
    load=load,
    build=build,
    source=IMDB,
)
