"""Images with labels: MNIST and CIFAR-10, or what stands in for them."""

from __future__ import annotations

import gzip
import hashlib
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from models.data.sources import CIFAR10, MNIST, find_real, hash_file
from models.manifest import DatasetUsed
from models.workload import Data

if TYPE_CHECKING:
    from models.data.sources import DataMode
    from models.workload import Parameters

    Images = np.ndarray[Any, Any]
    Split = tuple[tuple[Images, Images], tuple[Images, Images]]

FASHION_MNIST = Path("/usr/share/datasets/fashion-mnist")
"""Where Debian's package dataset-fashion-mnist puts its files."""

CLASSES = 10
_IDX_UNSIGNED_BYTES = 0x08


def load_mnist(parameters: Parameters, mode: DataMode, seed: int) -> Data:
    """Return MNIST; else Debian's Fashion-MNIST, of the same shape; else made images.

    Inputs are float32 in [0, 1], of shape (samples, *parameters["inputs"]); targets are
    one-hot, (samples, 10).

    Raises:
        DataError: in mode ``real``, where MNIST is not at hand.
    """
    found = find_real(MNIST, mode)
    if found:
        import keras

        used = DatasetUsed(name=MNIST.title, kind="real", sha256=found[1])
        return _prepare(keras.datasets.mnist.load_data(), used, parameters)
    if mode == "auto" and (FASHION_MNIST / "train-images-idx3-ubyte.gz").is_file():
        used = DatasetUsed(
            name="Fashion-MNIST",
            kind="substitute",
            sha256=hash_file(FASHION_MNIST / "train-images-idx3-ubyte.gz"),
            note="Debian's dataset-fashion-mnist, of MNIST's shape, in place of MNIST",
        )
        return _prepare(read_fashion_mnist(FASHION_MNIST), used, parameters)
    return _make_images("MNIST", (28, 28), parameters, seed)


def load_cifar10(parameters: Parameters, mode: DataMode, seed: int) -> Data:
    """Return CIFAR-10; else made images of its shape.

    Inputs are float32 in [0, 1], of shape (samples, 32, 32, 3); targets one-hot.

    Raises:
        DataError: in mode ``real``, where CIFAR-10 is not at hand.
    """
    found = find_real(CIFAR10, mode)
    if found:
        import keras

        used = DatasetUsed(name=CIFAR10.title, kind="real", sha256=found[1])
        return _prepare(keras.datasets.cifar10.load_data(), used, parameters)
    return _make_images("CIFAR-10", (32, 32, 3), parameters, seed)


def read_fashion_mnist(folder: Path) -> Split:
    """Return Fashion-MNIST's training and test sets from IDX files, uint8.

    Raises:
        ValueError: where a file is not IDX of unsigned bytes.
    """
    train = (
        read_idx(folder / "train-images-idx3-ubyte.gz"),
        read_idx(folder / "train-labels-idx1-ubyte.gz"),
    )
    test = (
        read_idx(folder / "t10k-images-idx3-ubyte.gz"),
        read_idx(folder / "t10k-labels-idx1-ubyte.gz"),
    )
    return train, test


def read_idx(path: Path) -> Images:
    """Return the array of a gzipped IDX file (the format of http://yann.lecun.com/exdb/mnist)."""
    data = gzip.decompress(path.read_bytes())
    zeros, kind, dimensions = struct.unpack_from(">HBB", data)
    if zeros or kind != _IDX_UNSIGNED_BYTES:
        raise ValueError(f"{path.name} is not IDX of unsigned bytes")
    shape = struct.unpack_from(f">{dimensions}I", data, 4)
    return np.frombuffer(data, dtype="uint8", offset=4 + 4 * dimensions).reshape(shape)


def _make_images(title: str, shape: tuple[int, ...], parameters: Parameters, seed: int) -> Data:
    """Return made images: each class a pattern of its own under noise, so that a model learns."""
    random = np.random.default_rng(seed)
    patterns = random.integers(0, 128, size=(CLASSES, *shape), dtype="uint8")

    def make(count: int) -> tuple[Images, Images]:
        labels = random.integers(0, CLASSES, size=count, dtype="uint8")
        noise = random.integers(0, 128, size=(count, *shape), dtype="uint8")
        return patterns[labels] + noise, labels

    train = make(parameters["samples"])
    split = (train, make(parameters["validation_samples"]))
    used = DatasetUsed(
        name=f"made images of {title}'s shape",
        kind="synthetic",
        sha256=hashlib.sha256(train[0].tobytes()).hexdigest(),
        note=f"seeded patterns under noise, in place of {title}",
    )
    return _prepare(split, used, parameters)


def _prepare(split: Split, used: DatasetUsed, parameters: Parameters) -> Data:
    (x, y), (test_x, test_y) = split

    def prepare(images: Images, labels: Images, count: int) -> tuple[Images, Images]:
        images, labels = images[:count], labels[:count]
        if len(images) < count:
            raise ValueError(f"{used.name}: {len(images)} samples where {count} are needed")
        one_hot = np.eye(CLASSES, dtype="float32")[labels.reshape(-1)]
        return images.reshape(count, *parameters["inputs"]).astype("float32") / 255, one_hot

    x, y = prepare(x, y, parameters["samples"])
    return Data(x, y, prepare(test_x, test_y, parameters["validation_samples"]), used)
