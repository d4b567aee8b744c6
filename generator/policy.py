"""What a page may load, said by the page itself: a Content-Security-Policy in each.

The site is files: no server of ours could send it as a header. It is written last, over the
built pages, for it names the scripts that stand in a page by their SHA-256.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_HEAD = re.compile(r"<head\b[^>]*>", re.IGNORECASE)
_CHARSET = re.compile(r"<meta\s+charset=[^>]*>", re.IGNORECASE)
_DATA = re.compile(r"""\btype\s*=\s*["']?application/(?:ld\+)?json\b""", re.IGNORECASE)
_SOURCE = re.compile(r"\bsrc\s*=", re.IGNORECASE)

# 'self' is a page's own host; file: is that of a copy on a disk, and none for a page from a host.
_OWN = "'self' file:"


def hash_scripts(page: str) -> list[str]:
    """Return the sources that allow a page's inline scripts: ``'sha256-…'``, sorted.

    Blocks of JSON are data, which no browser runs: they need none.
    """
    hashes = set()
    for attributes, body in _SCRIPT.findall(page):
        if _SOURCE.search(attributes) or _DATA.search(attributes):
            continue
        # A browser's parser has turned a carriage return into a line feed before it hashes.
        text = body.replace("\r\n", "\n").replace("\r", "\n")
        digest = hashlib.sha256(text.encode("utf-8")).digest()
        hashes.add(f"'sha256-{base64.b64encode(digest).decode('ascii')}'")
    return sorted(hashes)


def make_policy(page: str) -> str:
    """Return the policy of a page: its own files, and the scripts that stand in it."""
    scripts = " ".join([_OWN, *hash_scripts(page)])
    parts = {
        "default-src": "'none'",
        "script-src": scripts,
        "style-src": _OWN,
        # The theme's icons are addresses with the picture in them.
        "img-src": f"{_OWN} data:",
        "connect-src": _OWN,
        "worker-src": _OWN,
        "frame-src": _OWN,
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in parts.items())


def add_policy(page: str) -> str:
    """Return a page with its policy, before anything that it rules over."""
    head = _HEAD.search(page)
    if head is None:
        return page
    # The charset must stand within a file's first 1024 bytes: the policy comes after it.
    charset = _CHARSET.search(page, head.end())
    place = charset.end() if charset else head.end()
    content = html.escape(make_policy(page), quote=False)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{content}">'
    return f"{page[:place]}{meta}{page[place:]}"


def write_policies(site: Path) -> None:
    """Write its policy into every page below a site's folder."""
    for path in sorted(site.rglob("*.html")):
        text = path.read_bytes().decode("utf-8")
        path.write_bytes(add_policy(text).encode("utf-8"))
