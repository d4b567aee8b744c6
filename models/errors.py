"""What is wrong with a file of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class RunFormatError(ValueError):
    """A file that breaks the run format: where, why, and what to do about it."""

    def __init__(self, file: Path, reason: str, mend: str, line: int | None = None) -> None:
        """Name the file, the 1-based line where one is at fault, the reason and the mend."""
        self.file = file
        self.line = line
        self.reason = reason
        self.mend = mend
        place = f"{file}:{line}" if line else f"{file}"
        super().__init__(f"{place}: {reason}; {mend}")


def read_text(path: Path) -> str:
    """Return a file's text, which must be UTF-8; raise RunFormatError otherwise."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise RunFormatError(path, "the file is missing", "run the cell again") from None
    except OSError as error:
        reason = f"the file can't be read ({error.strerror})"
        raise RunFormatError(path, reason, "make it readable") from None
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is not UTF-8"
        raise RunFormatError(path, reason, "save the file as UTF-8") from None
