"""A convolutional network on MNIST (Keras' example mnist_cnn.py of 2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.data.sources import MNIST, DataMode
from models.workload import Data, Parameters, Workload

if TYPE_CHECKING:
    import keras


def load(parameters: Parameters, mode: DataMode, seed: int) -> Data:
    """Return MNIST, or what stands in for it, as images of 28 × 28 × 1."""
    from models.data.images import load_mnist

    return load_mnist(parameters, mode, seed)


def build(parameters: Parameters, data: Data, jit_compile: bool) -> keras.Model:
    """Return the compiled model."""
    import keras

    del data
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input(parameters["inputs"]),
            layers.Conv2D(32, 3, activation="relu"),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Dropout(0.25),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(
        # Keras' own default was 1.0 in 2017, and is 0.001 now.
        optimizer=keras.optimizers.Adadelta(parameters["learning_rate"]),
        loss="categorical_crossentropy",
        metrics=["accuracy"],
        jit_compile=jit_compile,
    )
    return model


WORKLOAD = Workload(
    title="CNN on MNIST",
    description="A small convolutional network on handwritten digits",
    full={
        "batch_size": 128,
        "epochs": 12,
        "samples": 60_000,
        "validation_samples": 10_000,
        "inputs": [28, 28, 1],
        "optimizer": "Adadelta",
        "learning_rate": 1.0,
        "layers": "Conv 32 3×3, Conv 64 3×3, MaxPool 2, Dropout 0.25, Dense 128, Dropout 0.5, "
        "Dense 10 softmax",
    },
    quick_steps=5,
    load=load,
    build=build,
    source=MNIST,
)
