"""The README's commands do what it says, and its figures are the report's."""

import re
import shlex
import subprocess

import pytest

from generator.answers import answer_sentence
from generator.reading import read_campaign_folder
from generator.report import make_report
from tests.conftest import PLAIN_ENVIRONMENT, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line.split("#")[0].strip() for block in BLOCKS for line in block.splitlines() if line.strip()
]


def make(*arguments):
    return subprocess.run(
        ["make", *arguments],
        cwd=ROOT,
        env=PLAIN_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_opens_with_the_two_commands_and_a_picture():
    assert COMMANDS[:2] == ["make all", "make test"]
    picture = re.search(r"!\[[^\]]+\]\(([^)]+)\)", README)[1]
    assert (ROOT / picture).is_file()
    assert README.index("make test") < README.index(picture) < README.index("\n## ")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one_that_make_knows(command):
    words = shlex.split(command)
    assert words[0] == "make"
    result = make("--dry-run", *words[1:])
    assert result.returncode == 0, result.stderr
    known = set(re.findall(r"^([A-Z_]+) +\?=", MAKEFILE, re.MULTILINE))
    assert {word.partition("=")[0] for word in words if "=" in word} <= known


def test_help_lists_every_target_and_setting():
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split()
    shown = make("help").stdout
    assert [
        name for name in phony if not re.search(rf"^  make {name} +\S", shown, re.MULTILINE)
    ] == []
    settings = re.findall(r"^([A-Z_]+) +\?=", MAKEFILE, re.MULTILINE)
    assert [
        name for name in settings if not re.search(rf"^  {name} +\S", shown, re.MULTILINE)
    ] == []


def test_its_answer_is_the_reports():
    report = make_report(read_campaign_folder(ROOT / "runs" / "gce-2017-07"), [])
    answer = answer_sentence(report)
    assert answer == (
        "8 vCPUs with compiled TensorFlow are the cheapest for all 7 workloads, at 4.0 to 34 % of "
        "the GPU's cost. The GPU is the fastest for 6 of 7 workloads and 32 vCPUs with TensorFlow "
        "from pip for 1."
    )
    flat = " ".join(README.split())
    assert "the cheapest for all 7 workloads, at 4.0 to 34 % of the GPU's cost" in flat


def test_its_links_lead_somewhere():
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        local = [
            link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith("http")
        ]
        assert [link for link in local if not (ROOT / link.split("#")[0]).exists()] == []


def test_clean_removes_no_stranger(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    build = tmp_path / "build"
    result = make("clean", f"SITE_DIR={tmp_path}", f"BUILD={build}")
    assert result.returncode == 2
    assert "holds no report: it stays" in result.stderr
    assert (tmp_path / "thesis.tex").is_file()


def test_make_site_asks_for_no_tensorflow():
    shown = make("--dry-run", "--always-make", "site").stdout
    assert "requirements/report.txt" in shown
    assert "train.txt" not in shown
