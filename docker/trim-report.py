"""Keeps of pip's report what a run records: names, versions, wheels and their SHA-256.

The report itself holds the address of the package index, which is its owner's alone.
"""

import json
import sys
from pathlib import Path


def trim_report(text: str) -> str:
    """Return a report with nothing in it but each package's name, version, wheel and hashes."""
    kept = [
        {
            "metadata": {key: item["metadata"][key] for key in ("name", "version")},
            "download_info": {
                "url": item["download_info"]["url"].rpartition("/")[2],
                "archive_info": {
                    "hashes": item["download_info"].get("archive_info", {}).get("hashes", {})
                },
            },
        }
        for item in json.loads(text)["install"]
    ]
    kept.sort(key=lambda item: item["metadata"]["name"])
    return json.dumps({"install": kept}, indent=1) + "\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(trim_report(Path(sys.argv[1]).read_text()), encoding="utf-8")
