"""Film reviews as word numbers: IMDb, or made reviews of the same statistics."""

from __future__ import annotations

import hashlib
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from models.data.sources import IMDB, find_real
from models.manifest import DatasetUsed
from models.workload import Data

if TYPE_CHECKING:
    from models.data.sources import DataMode
    from models.workload import Parameters

    Words = np.ndarray[Any, Any]
    Labelled = tuple[list[list[int]], Words]

# Keras' numbering: 0 pads, 1 starts a review, 2 is a word that the vocabulary lacks, and words
# follow by frequency (keras/src/datasets/imdb.py).
START, OUT_OF_VOCABULARY, FIRST_WORD = 1, 2, 3

# IMDb's own statistics: 88,584 words; its training reviews have 238.7 words in the mean with a
# standard deviation of 176.5, from 11 to 2,494 (Keras' imdb.npz).
IMDB_WORDS = 88_584
MEAN_LENGTH, LENGTH_DEVIATION = 238.7, 176.5
SHORTEST, LONGEST = 11, 2_494


def load_reviews(parameters: Parameters, mode: DataMode, seed: int) -> Data:
    """Return reviews as (samples, words a review), padded and cut at the front as in 2017.

    With ``ngrams`` = 2 each review gets the numbers of its bigrams, too (fastText). Targets
    are 0 or 1. ``sizes["vocabulary"]`` is how many numbers there are.

    Raises:
        DataError: in mode ``real``, where IMDb is not at hand.
    """
    found = find_real(IMDB, mode)
    if found:
        train, test = _read_imdb(parameters["words"])
        used = DatasetUsed(name=IMDB.title, kind="real", sha256=found[1])
    else:
        random = np.random.default_rng(seed)
        train = make_reviews(parameters["samples"], parameters["words"], random)
        test = make_reviews(parameters["validation_samples"], parameters["words"], random)
        content = np.concatenate([np.asarray(review, dtype="int32") for review in train[0]])
        used = DatasetUsed(
            name="made reviews of IMDb's statistics",
            kind="synthetic",
            sha256=hashlib.sha256(content.tobytes()).hexdigest(),
            note="seeded words by Zipf's law, lengths like IMDb's, in place of IMDb",
        )
    reviews, labels = _take(train, parameters["samples"], used)
    test_reviews, test_labels = _take(test, parameters["validation_samples"], used)
    vocabulary = parameters["words"]
    if parameters.get("ngrams", 1) > 1:
        bigrams = number_bigrams(reviews, vocabulary)
        reviews = add_bigrams(reviews, bigrams)
        test_reviews = add_bigrams(test_reviews, bigrams)
        vocabulary = max(vocabulary + len(bigrams), parameters.get("embedding_rows", 0))
    length = parameters["inputs"]
    return Data(
        pad(reviews, length),
        labels.astype("float32"),
        (pad(test_reviews, length), test_labels.astype("float32")),
        used,
        {"vocabulary": vocabulary},
    )


def _read_imdb(words: int) -> tuple[Labelled, Labelled]:
    import keras

    (x, y), (test_x, test_y) = keras.datasets.imdb.load_data(num_words=words)
    return (list(x), y), (list(test_x), test_y)


def _take(labelled: Labelled, count: int, used: DatasetUsed) -> Labelled:
    reviews, labels = labelled
    if len(reviews) < count:
        raise ValueError(f"{used.name}: {len(reviews)} samples where {count} are needed")
    return reviews[:count], np.asarray(labels[:count])


def make_reviews(count: int, words: int, random: np.random.Generator) -> Labelled:
    """Return made reviews and labels.

    Lengths are lognormal with IMDb's mean and deviation; words follow Zipf's law over IMDb's
    vocabulary, and those beyond the ``words`` most frequent become the out-of-vocabulary
    number, as in Keras' loader.
    """
    spread = math.log(1 + (LENGTH_DEVIATION / MEAN_LENGTH) ** 2)
    location = math.log(MEAN_LENGTH) - spread / 2
    lengths = random.lognormal(location, math.sqrt(spread), size=count)
    lengths = np.clip(lengths.round(), SHORTEST, LONGEST).astype(int)
    weights = 1 / np.arange(1, IMDB_WORDS + 1)
    ends = np.cumsum(weights) / weights.sum()
    numbers = np.searchsorted(ends, random.random(int(lengths.sum()))) + FIRST_WORD
    numbers = np.where(numbers < words, numbers, OUT_OF_VOCABULARY)
    reviews = []
    position = 0
    for length in lengths:
        review = numbers[position : position + length]
        position += length
        review[0] = START
        reviews.append(review.tolist())
    return reviews, random.integers(0, 2, size=count)


def number_bigrams(reviews: list[list[int]], words: int) -> dict[tuple[int, int], int]:
    """Return a number for each pair of neighbouring words, after those of the words."""
    pairs = {pair for review in reviews for pair in pairwise(review)}
    return {pair: number for number, pair in enumerate(sorted(pairs), start=words + 1)}


def add_bigrams(reviews: list[list[int]], bigrams: dict[tuple[int, int], int]) -> list[list[int]]:
    """Return reviews with the numbers of their known bigrams after their words."""
    return [
        review + [bigrams[pair] for pair in pairwise(review) if pair in bigrams]
        for review in reviews
    ]


def pad(reviews: list[list[int]], length: int) -> Words:
    """Return reviews as one array: the last ``length`` numbers of each, zeros before."""
    array = np.zeros((len(reviews), length), dtype="int32")
    for row, review in zip(array, reviews, strict=True):
        tail = review[-length:]
        if tail:
            row[-len(tail) :] = tail
    return array
