"""Real data is checked before Keras sees it; what stands in has its statistics."""

import gzip
import hashlib
import importlib.util
import struct
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from models.data import images, reviews, sources, text
from models.data.sources import IMDB, MNIST, DataError, Source, find_real

TINY = {"samples": 300, "validation_samples": 50, "inputs": [784]}


@pytest.fixture(autouse=True)
def no_network(monkeypatch, tmp_path):
    """Let nothing be downloaded, and nothing real be found."""
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def refuse(*arguments, **options):
        raise OSError("no network in tests")

    monkeypatch.setattr(sources.urllib.request, "urlopen", refuse)


def put(source, data):
    source.path().parent.mkdir(parents=True, exist_ok=True)
    source.path().write_bytes(data)
    return source.path()


def test_a_wrong_file_is_named_and_not_deleted():
    path = put(MNIST, b"not MNIST")
    with pytest.raises(DataError) as error:
        find_real(MNIST, "real")
    message = str(error.value)
    assert path.read_bytes() == b"not MNIST"
    assert hashlib.sha256(b"not MNIST").hexdigest() in message
    assert MNIST.sha256 in message
    assert MNIST.url in message
    assert "mnist.npz" in message
    assert "\n" not in message
    assert find_real(MNIST, "auto") is None
    assert path.read_bytes() == b"not MNIST"


def test_a_missing_file_says_where_to_put_it():
    with pytest.raises(DataError, match=r"imdb\.npz is missing, and can't be downloaded; put"):
        find_real(IMDB, "real")
    assert find_real(IMDB, "auto") is None


def test_a_right_file_is_found():
    data = b"right"
    source = Source("Test", "test.bin", "https://example.org/", hashlib.sha256(data).hexdigest())
    path = put(source, data)
    assert find_real(source, "real") == (path, source.sha256)
    assert find_real(source, "synthetic") is None


def test_a_download_is_checked_and_kept_only_if_right(monkeypatch):
    class Answer:
        def __init__(self, data):
            self.data = [data, b""]

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

        def read(self, size):
            return self.data.pop(0)

    good = Source("Test", "t.bin", "https://example.org/", hashlib.sha256(b"good").hexdigest())
    monkeypatch.setattr(sources.urllib.request, "urlopen", lambda *_, **__: Answer(b"bad"))
    assert find_real(good, "auto") is None
    assert list(good.path().parent.iterdir()) == []
    monkeypatch.setattr(sources.urllib.request, "urlopen", lambda *_, **__: Answer(b"good"))
    assert find_real(good, "auto") == (good.path(), good.sha256)


def test_an_unreachable_network_is_asked_once(monkeypatch):
    asked = []

    def refuse(*arguments, **options):
        asked.append(1)
        raise OSError

    monkeypatch.setattr(sources.urllib.request, "urlopen", refuse)
    assert find_real(MNIST, "auto") is None
    assert find_real(IMDB, "auto") is None
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("source", "module", "ending"),
    [(MNIST, "mnist", ""), (sources.CIFAR10, "cifar10", "_archive"), (IMDB, "imdb", "")],
)
def test_files_and_hashes_are_those_of_keras_own_loaders(source, module, ending):
    package = Path(importlib.util.find_spec("keras").submodule_search_locations[0])
    loader = (package / "src" / "datasets" / f"{module}.py").read_text(encoding="utf-8")
    assert f'"{source.sha256}"' in loader
    assert f'{source.file.removesuffix(ending)}"' in loader
    if ending:
        # get_file() keeps what it unpacks under the name and this ending.
        getter = (package / "src" / "utils" / "file_utils.py").read_text(encoding="utf-8")
        assert f'f"{{fname}}{ending}"' in getter
    else:
        assert f'{source.url.rpartition("/")[0]}/"' in loader


def write_idx(path, array):
    head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    path.write_bytes(gzip.compress(head + array.tobytes()))


def test_idx_files_are_read_as_they_were_written(tmp_path):
    array = np.arange(2 * 3 * 4, dtype="uint8").reshape(2, 3, 4)
    write_idx(tmp_path / "x.gz", array)
    assert (images.read_idx(tmp_path / "x.gz") == array).all()
    (tmp_path / "y.gz").write_bytes(gzip.compress(b"\0\0\x0d\x01\0\0\0\x01x"))
    with pytest.raises(ValueError, match="not IDX"):
        images.read_idx(tmp_path / "y.gz")


@pytest.mark.skipif(
    not images.FASHION_MNIST.is_dir(), reason="Debian's dataset-fashion-mnist is not installed"
)
def test_fashion_mnist_stands_in_for_mnist():
    data = images.load_mnist(TINY, "auto", 1)
    assert data.used.kind == "substitute"
    assert "Fashion-MNIST" in data.used.name
    assert data.x.shape == (300, 784)
    assert data.validation[0].shape == (50, 784)
    assert 0 <= data.x.min() < data.x.max() == 1
    assert (data.y.sum(axis=1) == 1).all()
    (x, y), (test_x, _) = images.read_fashion_mnist(images.FASHION_MNIST)
    assert (x.shape, test_x.shape) == ((60000, 28, 28), (10000, 28, 28))
    # The authors' classes are balanced: 6,000 of each.
    assert set(Counter(y.tolist()).values()) == {6000}


def test_without_it_images_are_made(monkeypatch, tmp_path):
    monkeypatch.setattr(images, "FASHION_MNIST", tmp_path)
    data = images.load_mnist(TINY, "auto", 1)
    assert data.used.kind == "synthetic"
    again = images.load_mnist(TINY, "synthetic", 1)
    assert (data.x == again.x).all()
    assert data.used.sha256 == again.used.sha256
    assert (images.load_mnist(TINY, "synthetic", 2).x != data.x).any()


def test_made_colour_images():
    data = images.load_cifar10({**TINY, "inputs": [32, 32, 3]}, "auto", 1)
    assert data.x.shape == (300, 32, 32, 3)
    assert data.used.kind == "synthetic"


def test_made_reviews_are_like_imdbs():
    made, labels = reviews.make_reviews(4000, 20_000, np.random.default_rng(1))
    lengths = np.array([len(review) for review in made])
    # 4,000 lengths of standard deviation 176 leave their mean uncertain by 2.8: within 4 of them.
    assert lengths.mean() == pytest.approx(238.7, abs=12)
    assert lengths.std() == pytest.approx(176.5, rel=0.15)
    assert (lengths.min(), lengths.max()) >= (11, 11)
    assert lengths.max() <= 2494
    words = np.concatenate([review[1:] for review in made])
    assert words.max() < 20_000
    counts = np.bincount(words, minlength=20_000)
    # Zipf: the first word is ten times as frequent as the tenth, and so on.
    first, tenth, hundredth = (counts[reviews.FIRST_WORD + rank - 1] for rank in (1, 10, 100))
    assert first / tenth == pytest.approx(10, rel=0.1)
    assert first / hundredth == pytest.approx(100, rel=0.2)
    assert all(review[0] == reviews.START for review in made)
    assert set(labels.tolist()) == {0, 1}


def test_padding_and_bigrams_by_hand():
    assert reviews.pad([[1, 2, 3, 4], [5], []], 3).tolist() == [[2, 3, 4], [0, 0, 5], [0, 0, 0]]
    bigrams = reviews.number_bigrams([[1, 5, 7], [5, 7]], 20)
    assert bigrams == {(1, 5): 21, (5, 7): 22}
    assert reviews.add_bigrams([[1, 5, 7, 1]], bigrams) == [[1, 5, 7, 1, 21, 22]]


def test_reviews_are_of_the_shape_asked_for():
    parameters = {"samples": 20, "validation_samples": 10, "words": 500, "inputs": 30, "ngrams": 2}
    data = reviews.load_reviews(parameters, "auto", 1)
    assert data.x.shape == (20, 30)
    assert data.validation[0].shape == (10, 30)
    assert data.x.max() <= data.sizes["vocabulary"]
    fixed = reviews.load_reviews(parameters | {"embedding_rows": 99_000}, "auto", 1)
    assert fixed.sizes["vocabulary"] == 99_000


def test_made_text_is_of_order_two():
    made = text.make_text(60_000, np.random.default_rng(1))
    assert set(made) <= set(text.ALPHABET)
    assert len(text.ALPHABET) == len(set(text.ALPHABET)) == 57

    def entropy(order):
        followers = {}
        for index in range(order, len(made)):
            followers.setdefault(made[index - order : index], Counter())[made[index]] += 1
        total = 0.0
        for counts in followers.values():
            count = sum(counts.values())
            total -= sum(n * np.log2(n / count) for n in counts.values())
        return total / (len(made) - order)

    # One character tells little of the next; two tell all that there is to know: the entropy of
    # Zipf's law over 57 ranks, 4.64 bits, which few samples a pair can only understate.
    assert entropy(1) > entropy(2) + 0.5
    assert entropy(2) < 4.7


def test_windows_by_hand():
    parameters = {"inputs": 3, "step": 2, "samples": 2}
    windows, following = text.cut_windows("abcabcab", parameters)
    a, b, c = (text.ALPHABET.index(letter) for letter in "abc")
    assert windows.tolist() == [[a, b, c], [c, a, b]]
    assert following.tolist() == [a, c]
    with pytest.raises(ValueError, match="3 windows where 4 are needed"):
        text.cut_windows("abcabcab", parameters | {"samples": 4})


def test_windows_one_hot_or_as_numbers():
    parameters = {"inputs": 40, "step": 3, "samples": 10, "one_hot": True}
    one_hot = text.load_windows(parameters, "synthetic", 1)
    plain = text.load_windows(parameters | {"one_hot": False}, "synthetic", 1)
    assert one_hot.x.shape == (10, 40, 57)
    assert (one_hot.x.argmax(axis=2) == plain.x).all()
    assert one_hot.validation is None


def test_the_corpus_gives_200285_windows():
    # range(0, 600,893 − 40, 3), as the script of 2017 counts them.
    assert len(range(0, text.CORPUS_LENGTH - 40, 3)) == 200_285


def test_another_text_is_not_the_corpus():
    put(sources.NIETZSCHE, b"another text")
    parameters = {"inputs": 40, "step": 3, "samples": 10, "one_hot": True}
    with pytest.raises(DataError, match=r"nietzsche\.txt is not the corpus of 600893 characters"):
        text.load_windows(parameters, "real", 1)
    assert text.load_windows(parameters, "auto", 1).used.kind == "synthetic"
    assert sources.NIETZSCHE.path().read_bytes() == b"another text"
