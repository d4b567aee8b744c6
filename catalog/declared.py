"""Reads a declared YAML file into a checked record; each fault gets its line and its mend."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_Record = TypeVar("_Record", bound=BaseModel)


class DeclaredError(ValueError):
    """A fault in a declared file: where it is, what it is, and what to do."""

    def __init__(self, file: Path | str, line: int | None, reason: str, mend: str) -> None:
        """Name the file (or an address), the 1-based line if any, the reason and the mend."""
        self.file = file
        self.line = line
        self.reason = reason
        self.mend = mend
        place = f"{file}:{line}" if line else f"{file}"
        super().__init__(f"{place}: {reason}; {mend}")


class Declared(BaseModel):
    """A record of a declared file: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the mend for an unknown name: the nearest right one, and all of them."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}choose from {', '.join(names)}"


class DeclaredFile:
    """A YAML file as read: its plain data, and the line of each of its places."""

    def __init__(self, path: Path) -> None:
        """Read the file; raise DeclaredError where it can't be read, or a key stands twice."""
        self.path = path
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise DeclaredError(path, None, "the file is missing", "restore it") from None
        except (OSError, UnicodeDecodeError) as error:
            raise DeclaredError(path, None, f"can't be read ({error})", "mend it") from None
        try:
            self._node = yaml.compose(text, Loader=yaml.SafeLoader)
            self._check_keys(self._node)
            self.data: Any = yaml.safe_load(text)
        except DeclaredError:
            raise
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            line = mark.line + 1 if mark else None
            reason = f"not YAML ({error.problem})"
            raise DeclaredError(path, line, reason, "mend the line") from None
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            raise DeclaredError(path, None, f"not YAML ({error})", "mend it") from None

    def line_of(self, *location: int | str) -> int | None:
        """Return the line of a place (keys and positions from the top), or of its parent."""
        node, line = self._node, None
        for step in location:
            if isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    if key.value == str(step):
                        node, line = value, key.start_mark.line + 1
                        break
                else:
                    break
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                if step >= len(node.value):
                    break
                node = node.value[step]
                line = node.start_mark.line + 1
        return line

    def fault(self, location: tuple[int | str, ...], reason: str, mend: str) -> DeclaredError:
        """Return the error for a fault at a place of the file."""
        return DeclaredError(self.path, self.line_of(*location), reason, mend)

    def check(self, record: type[_Record]) -> _Record:
        """Return the file's data as a record; raise DeclaredError for its first fault."""
        if self.data is None:
            raise DeclaredError(self.path, None, "the file is empty", "restore it")
        try:
            return record.model_validate(self.data)
        except ValidationError as error:
            # An unknown key is often the misspelt twin of a missing one: it explains more.
            faults = error.errors(include_url=False)
            first = min(faults, key=lambda fault: fault["type"] != "extra_forbidden")
            location = tuple(first["loc"])
            name = ".".join(str(step) for step in location)
            if first["type"] == "extra_forbidden":
                known = _keys_at(record, location[:-1])
                raise self.fault(
                    location, f"unknown key {name!r}", suggest(str(location[-1]), known)
                ) from None
            if first["type"] == "missing":
                raise self.fault(location, f"{name!r} is missing", "add it") from None
            if first["type"] == "value_error":
                reason, _, mend = str(first["ctx"]["error"]).partition("; ")
                mend = mend or "correct it"
            else:
                reason, mend = f"{name} = {first['input']!r}: {first['msg']}", "correct it"
            raise self.fault(location, reason, mend) from None

    def _check_keys(self, node: yaml.Node | None) -> None:
        if isinstance(node, yaml.MappingNode):
            seen: dict[str, int] = {}
            for key, value in node.value:
                line = key.start_mark.line + 1
                if not isinstance(key, yaml.ScalarNode):
                    reason = "a key that is no plain name"
                    raise DeclaredError(self.path, line, reason, "put text with braces in quotes")
                if key.value in seen:
                    reason = f"{key.value!r} stands twice, first in line {seen[key.value]}"
                    raise DeclaredError(self.path, line, reason, "keep one of them")
                seen[key.value] = line
                self._check_keys(value)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                self._check_keys(item)


def _keys_at(record: type[BaseModel], location: tuple[int | str, ...]) -> set[str]:
    """Return the keys that a record knows at a place, as far as its types tell."""
    keys: Any = record.model_json_schema()
    schema, definitions = keys, keys.get("$defs", {})
    for step in location:
        schema = _resolve(schema, definitions)
        if isinstance(step, int):
            schema = schema.get("items", {})
        else:
            schema = schema.get("properties", {}).get(step) or schema.get(
                "additionalProperties", {}
            )
    schema = _resolve(schema, definitions)
    return set(schema.get("properties", {})) if isinstance(schema, dict) else set()


def _resolve(schema: Any, definitions: dict[str, Any]) -> Any:  # noqa: ANN401 (JSON)
    for choice in schema.get("anyOf", ()) if isinstance(schema, dict) else ():
        if "$ref" in choice or choice.get("type") in ("object", "array"):
            schema = choice
            break
    if isinstance(schema, dict) and "$ref" in schema:
        return definitions[schema["$ref"].rpartition("/")[2]]
    return schema


def read_declared(path: Path, record: type[_Record]) -> _Record:
    """Read a YAML file into a record; raise DeclaredError for its first fault."""
    return DeclaredFile(path).check(record)
