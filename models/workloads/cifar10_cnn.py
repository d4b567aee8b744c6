"""A deeper convolutional network on CIFAR-10, augmented (Keras' cifar10_cnn.py of 2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from models.data.sources import CIFAR10, DataMode
from models.workload import Data, Parameters, Workload

if TYPE_CHECKING:
    import keras


def load(parameters: Parameters, mode: DataMode, seed: int) -> Data:
    """Return CIFAR-10, or what stands in for it, as images of 32 × 32 × 3."""
    from models.data.images import load_cifar10

    return load_cifar10(parameters, mode, seed)


def feed(parameters: Parameters, data: Data, seed: int) -> Any:  # noqa: ANN401 (tf.data.Dataset)
    """Return batches that are shuffled, shifted and flipped on the CPU beside the training.

    As in 2017, where Keras' ImageDataGenerator did so in a thread: each image is shifted by up
    to 10 % each way, its edge pixels repeated, and flipped at random.
    """
    import keras
    import tensorflow as tf

    augment = keras.Sequential(
        [
            keras.layers.RandomTranslation(
                parameters["shift"], parameters["shift"], fill_mode="nearest", seed=seed
            ),
            keras.layers.RandomFlip("horizontal", seed=seed + 1),
        ]
    )
    batches = (
        tf.data.Dataset.from_tensor_slices((data.x, data.y))
        .shuffle(len(data.x), seed=seed, reshuffle_each_iteration=True)
        .batch(parameters["batch_size"])
    )
    return batches.map(
        lambda x, y: (augment(x, training=True), y), num_parallel_calls=tf.data.AUTOTUNE
    ).prefetch(tf.data.AUTOTUNE)


def build(parameters: Parameters, data: Data, jit_compile: bool) -> keras.Model:
    """Return the compiled model."""
    import keras

    del data
    layers = keras.layers
    model = keras.Sequential([keras.Input(parameters["inputs"])])
    for filters in (32, 64):
        model.add(layers.Conv2D(filters, 3, padding="same", activation="relu"))
        model.add(layers.Conv2D(filters, 3, activation="relu"))
        model.add(layers.MaxPooling2D(2))
        model.add(layers.Dropout(0.25))
    model.add(layers.Flatten())
    model.add(layers.Dense(512, activation="relu"))
    model.add(layers.Dropout(0.5))
    model.add(layers.Dense(10, activation="softmax"))
    model.compile(
        optimizer=keras.optimizers.RMSprop(parameters["learning_rate"]),
        loss="categorical_crossentropy",
        metrics=["accuracy"],
        jit_compile=jit_compile,
    )
    return model


WORKLOAD = Workload(
    title="Deep CNN on CIFAR-10",
    description="Four convolutions on colour photographs that are shifted and flipped at random",
    full={
        "batch_size": 32,
        "epochs": 20,
        "samples": 50_000,
        "validation_samples": 10_000,
        "inputs": [32, 32, 3],
        "optimizer": "RMSprop",
        "learning_rate": 1e-4,
        "shift": 0.1,
        "flip": "horizontal",
        "layers": "2 × (Conv, Conv, MaxPool 2, Dropout 0.25) with 32 then 64 filters of 3×3, the "
        "first of each pair padded; Dense 512, Dropout 0.5, Dense 10 softmax",
    },
    quick_steps=11,
    load=load,
    build=build,
    source=CIFAR10,
    feed=feed,
)
