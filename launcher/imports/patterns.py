"""Patterns of paths with fields, such as ``{instance}/{workload}_{build}.csv``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FIELDS = ("workload", "build", "instance", "run", "*")
ANY = "*"
# Every further field multiplies the ways in which a path can be split.
_MOST_FIELDS = 8

_TOKEN = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class PathPattern:
    """A pattern; ValueError for one that can't be used."""

    text: str

    def __post_init__(self) -> None:
        """Check the fields, the braces, and that the path stays below its folder."""
        fields = _TOKEN.findall(self.text)
        unknown = sorted({field for field in fields if field not in FIELDS})
        if unknown:
            known = ", ".join(f"{{{field}}}" for field in FIELDS)
            raise ValueError(f"{self.text}: unknown field {{{unknown[0]}}}; choose from {known}")
        if re.search(r"[{}]", _TOKEN.sub("", self.text)):
            raise ValueError(f"{self.text}: a brace without its other; write {{workload}}")
        if len(fields) > _MOST_FIELDS:
            raise ValueError(f"{self.text}: over {_MOST_FIELDS} fields; simplify it")
        if self.text.startswith("/") or ".." in self.text.split("/"):
            raise ValueError(f"{self.text}: it leads out of the source; begin below its folder")

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields."""
        return frozenset(_TOKEN.findall(self.text)) - {ANY}

    @property
    def suffix(self) -> str:
        """How the names of the files end, with the dot; empty where a field ends them."""
        last = self.text.rpartition("/")[2].rpartition("}")[2]
        return "." + last.rpartition(".")[2] if "." in last else ""

    def matches(self, path: str) -> list[dict[str, str]]:
        """Return every way to read a path: the fields' texts, without ``{*}``; sorted."""
        tokens = _TOKEN.split(self.text)
        found = {
            tuple(sorted((key, text) for key, text in fields.items() if key != ANY))
            for fields in _split(tokens, path, {})
        }
        return [dict(items) for items in sorted(found)]


def _split(tokens: list[str], path: str, bound: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yield the ways to read a path by tokens: a literal, then a field, then a literal …."""
    literal, *rest = tokens
    if not path.startswith(literal):
        return
    left = path[len(literal) :]
    if not rest:
        if not left:
            yield bound
        return
    field, *others = rest
    longest = left.partition("/")[0]
    for end in range(1, len(longest) + 1):
        text = left[:end]
        # A field that stands twice has the same text in both places.
        if field == ANY or bound.get(field, text) == text:
            yield from _split(others, left[end:], bound | {field: text})
