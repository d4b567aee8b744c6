"""Where the real data sets are, how their files are checked, and what to do without them."""

from __future__ import annotations

import hashlib
import os
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

DataMode = Literal["real", "auto", "synthetic"]
"""Which data is wanted: the real one, that if it is at hand, or a made one."""

_CHUNK = 1 << 20
# A machine without a network should not wait for one, and one with it answers at once.
_TIMEOUT_S = 3.0
# A campaign's runs start seconds apart: they need not all find out that nothing answers.
_UNREACHABLE_FOR_S = 600.0


class DataError(RuntimeError):
    """The real data is not at hand: one line which file, its hash, and where to put it."""


@dataclass(frozen=True)
class Source:
    """A file of a real data set, as Keras caches it.

    ``sha256`` is Keras' own (``keras/src/datasets``). It is empty where nobody publishes one:
    then the loader checks what is known of the content, and the run records the hash it saw.
    """

    title: str
    file: str
    url: str
    sha256: str

    def path(self) -> Path:
        """Return where Keras keeps the file: below ``KERAS_HOME``, or ``~/.keras``."""
        home = os.environ.get("KERAS_HOME") or Path.home() / ".keras"
        return Path(home) / "datasets" / self.file


_TF_KERAS = "https://storage.googleapis.com/tensorflow/tf-keras-datasets"
MNIST = Source(
    "MNIST",
    "mnist.npz",
    f"{_TF_KERAS}/mnist.npz",
    "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
)
CIFAR10 = Source(
    "CIFAR-10",
    # An archive that Keras unpacks is cached under this ending.
    "cifar-10-batches-py-target_archive",
    "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
    "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
)
IMDB = Source(
    "IMDb",
    "imdb.npz",
    f"{_TF_KERAS}/imdb.npz",
    "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f",
)
NIETZSCHE = Source(
    "Nietzsche's writings",
    "nietzsche.txt",
    "https://s3.amazonaws.com/text-datasets/nietzsche.txt",
    "",
)


def hash_file(path: Path) -> str:
    """Return a file's SHA-256, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def find_real(source: Source, mode: DataMode) -> tuple[Path, str] | None:
    """Return a real file that is checked, and its SHA-256; None where ``auto`` must do without.

    The check comes before Keras sees the file: offline, Keras deletes a cached file whose hash
    is wrong, and a download of hours with it. Nothing is deleted here.

    Args:
        source: the file.
        mode: ``synthetic`` finds none; ``auto`` takes a right file or a reachable one;
            ``real`` insists.

    Raises:
        DataError: in mode ``real``, where the file is missing and can't be had, or is wrong.
    """
    if mode == "synthetic":
        return None
    path = source.path()
    problem = "is missing, and can't be downloaded"
    if path.is_file():
        found = hash_file(path)
        if source.sha256 in ("", found):
            return path, found
        problem = f"has SHA-256 {found}"
    elif _download(source, path):
        return path, hash_file(path)
    if mode == "auto":
        return None
    wanted = f"SHA-256 {source.sha256}" if source.sha256 else "any SHA-256, its text is checked"
    raise DataError(
        f"{source.title}: {_short(path)} {problem}; put the file of {source.url} "
        f"({wanted}) there, or use DATA=auto"
    )


def _short(path: Path) -> str:
    """Return a path with ~ for the home folder: messages are kept with runs."""
    try:
        return f"~/{path.relative_to(Path.home())}"
    except ValueError:
        return str(path)


def _marker() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "kerascost" / "unreachable"


def _download(source: Source, path: Path) -> bool:
    """Download a file whose hash is right, or leave nothing; return whether it is there."""
    marker = _marker()
    if marker.exists() and time.time() - marker.stat().st_mtime < _UNREACHABLE_FOR_S:
        return False
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with urllib.request.urlopen(source.url, timeout=_TIMEOUT_S) as answer:  # noqa: S310
            path.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                while chunk := answer.read(_CHUNK):
                    file.write(chunk)
        if source.sha256 not in ("", hash_file(part)):
            return False
        part.replace(path)
    except (OSError, urllib.error.URLError):
        try:
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()
        except OSError:
            # A cache that can't be written only costs the wait.
            return False
        return False
    finally:
        part.unlink(missing_ok=True)
    return True
