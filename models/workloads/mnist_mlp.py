"""A multilayer perceptron on MNIST (Keras' example mnist_mlp.py of 2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from models.data.sources import MNIST, DataMode
from models.workload import Data, Parameters, Workload

if TYPE_CHECKING:
    import keras


def load(parameters: Parameters, mode: DataMode, seed: int) -> Data:
    """Return MNIST, or what stands in for it, as rows of 784 pixels."""
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
            layers.Dense(parameters["units"], activation="relu"),
            layers.Dropout(parameters["dropout"]),
            layers.Dense(parameters["units"], activation="relu"),
            layers.Dropout(parameters["dropout"]),
            layers.Dense(10, activation="softmax"),
        ]
    )
    arguments: dict[str, Any] = {"loss": "categorical_crossentropy", "metrics": ["accuracy"]}
    model.compile(optimizer=keras.optimizers.RMSprop(), jit_compile=jit_compile, **arguments)
    return model


WORKLOAD = Workload(
    title="MLP on MNIST",
    description="A multilayer perceptron with two hidden layers of 512 on handwritten digits",
    full={
        "batch_size": 128,
        "epochs": 20,
        "samples": 60_000,
        "validation_samples": 10_000,
        "inputs": [784],
        "units": 512,
        "dropout": 0.2,
        "optimizer": "RMSprop",
        "layers": "Dense 512 relu, Dropout 0.2, twice; Dense 10 softmax",
    },
    quick_steps=70,
    load=load,
    build=build,
    source=MNIST,
)
