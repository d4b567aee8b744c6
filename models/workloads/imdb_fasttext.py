"""fastText on IMDb: the mean of word and bigram vectors (Keras' imdb_fasttext.py of 2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.data.sources import IMDB, DataMode
from models.workload import Data, Parameters, Workload

if TYPE_CHECKING:
    import keras


def load(parameters: Parameters, mode: DataMode, seed: int) -> Data:
    """Return reviews as 400 numbers of words and bigrams."""
    from models.data.reviews import load_reviews

    return load_reviews(parameters, mode, seed)


def build(parameters: Parameters, data: Data, jit_compile: bool) -> keras.Model:
    """Return the compiled model."""
    import keras

    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input([parameters["inputs"]], dtype="int32"),
            # One more than there are numbers: 0 pads.
            layers.Embedding(data.sizes["vocabulary"] + 1, parameters["units"]),
            layers.GlobalAveragePooling1D(),
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
    title="fastText on IMDb",
    description="The mean of word and bigram vectors tells kind film reviews from unkind ones; "
    "the short profiles use a table of 200,000 vectors, where the full one has over a million",
    full={
        "batch_size": 32,
        "epochs": 5,
        "samples": 25_000,
        "validation_samples": 25_000,
        "inputs": 400,
        "words": 20_000,
        "ngrams": 2,
        "units": 50,
        "optimizer": "Adam",
        "layers": "Embedding 50 over words and bigrams, GlobalAveragePooling, Dense 1 sigmoid",
    },
    quick_steps=2,
    # Few reviews have few bigrams; a table as small as theirs would be too light a step.
    short={"embedding_rows": 200_000},
    load=load,
    build=build,
    source=IMDB,
)
