"""Windows of characters with the one that follows: Nietzsche's writings, or made text."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from models.data.sources import NIETZSCHE, DataError, find_real
from models.manifest import DatasetUsed
from models.workload import Data

if TYPE_CHECKING:
    from pathlib import Path

    from models.data.sources import DataMode
    from models.workload import Parameters

    Numbers = np.ndarray[Any, Any]

# The characters of the corpus in lower case, as Keras' example lists them: 57.
ALPHABET = "\n !\"'(),-.0123456789:;=?[]_abcdefghijklmnopqrstuvwxyzäæéë"
CORPUS_LENGTH = 600_893
"""Characters of the corpus: what Keras' example prints ("corpus length: 600893")."""


def load_windows(parameters: Parameters, mode: DataMode, seed: int) -> Data:
    """Return windows of ``inputs`` characters, one every ``step``, and what follows each.

    Inputs are (samples, inputs, 57) booleans where ``one_hot`` is set, else (samples, inputs)
    numbers from 0; targets are one-hot, (samples, 57). There is no validation, as in 2017.

    Raises:
        DataError: in mode ``real``, where the text is not at hand or is another.
    """
    found = find_real(NIETZSCHE, mode)
    text = None
    if found:
        text = _read_corpus(found[0], mode)
    if found and text is not None:
        used = DatasetUsed(name=NIETZSCHE.title, kind="real", sha256=found[1])
    else:
        length = min(CORPUS_LENGTH, _length_for(parameters))
        text = make_text(length, np.random.default_rng(seed))
        used = DatasetUsed(
            name="made text of order 2",
            kind="synthetic",
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            note="a seeded source in which two characters decide the next, in place of "
            "Nietzsche's writings",
        )
    windows, following = cut_windows(text, parameters)
    size = len(ALPHABET)
    y = np.eye(size, dtype="float32")[following]
    # The 2017 script fed booleans; a look-up in their unit matrix makes the same array.
    x = np.eye(size, dtype=bool)[windows] if parameters["one_hot"] else windows
    return Data(x, y, None, used, {"characters": size})


def _length_for(parameters: Parameters) -> int:
    return int(parameters["inputs"] + parameters["step"] * parameters["samples"])


def _read_corpus(path: Path, mode: DataMode) -> str | None:
    """Return the corpus in lower case; None where ``auto`` must do without.

    Nobody publishes its SHA-256, so its length and its characters are checked.
    """
    try:
        text = path.read_text(encoding="utf-8").lower()
    except UnicodeDecodeError:
        text = ""
    if len(text) == CORPUS_LENGTH and set(text) <= set(ALPHABET):
        return text
    if mode == "auto":
        return None
    raise DataError(
        f"{path.name} is not the corpus of {CORPUS_LENGTH} characters; replace it by the file "
        f"of {NIETZSCHE.url}, or use DATA=auto"
    )


def make_text(length: int, random: np.random.Generator) -> str:
    """Return made text: each two characters have their own few likely followers."""
    size = len(ALPHABET)
    # Zipf's law over the followers, in an order of its own for each pair.
    weights = 1 / np.arange(1, size + 1)
    ends = np.cumsum(weights / weights.sum())
    ranks = np.searchsorted(ends, random.random(length)).clip(max=size - 1).tolist()
    orders = np.argsort(random.random((size * size, size)), axis=1).tolist()
    numbers = []
    first, second = 0, 1
    for rank in ranks:
        following = orders[first * size + second][rank]
        numbers.append(following)
        first, second = second, following
    return "".join(ALPHABET[number] for number in numbers)


def cut_windows(text: str, parameters: Parameters) -> tuple[Numbers, Numbers]:
    """Return windows (samples, inputs) and the following character (samples), as numbers.

    Raises:
        ValueError: where the text has too few windows.
    """
    known = {character: number for number, character in enumerate(ALPHABET)}
    numbers = np.array([known[character] for character in text], dtype="int32")
    length, step = parameters["inputs"], parameters["step"]
    starts = np.arange(0, len(numbers) - length, step)[: parameters["samples"]]
    if len(starts) < parameters["samples"]:
        raise ValueError(f"{len(starts)} windows where {parameters['samples']} are needed")
    return numbers[starts[:, None] + np.arange(length)], numbers[starts + length]
