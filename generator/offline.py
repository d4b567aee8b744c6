"""What a copy of the site on a disk needs: there, no page may fetch the search's index."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_search_script(site: Path) -> None:
    """Write the search's index a second time, as the script that the theme loads from a disk.

    Args:
        site: a built site; one without a search stays as it is.
    """
    index = site / "search" / "search_index.json"
    if index.is_file():
        script = f"var __index = {index.read_text(encoding='utf-8').strip()};\n"
        index.with_suffix(".js").write_text(script, encoding="utf-8", newline="\n")
