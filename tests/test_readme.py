"""The README's commands do what it says, and its figures are the report's."""

import re
import shlex
import subprocess

import pytest

from catalog.price_book import read_price_file
from generator.answers import answer_sentence
from generator.reading import read_campaign_folder
from generator.report import make_report
from generator.tables import prediction_rows
from launcher.imports import import_logs
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
    known = set(re.findall(r"^([A-Z0-9_]+) +\?=", MAKEFILE, re.MULTILINE))
    assert {word.partition("=")[0] for word in words if "=" in word} <= known


def test_help_lists_every_target_and_setting():
    phony = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split()
    shown = make("help").stdout
    assert [
        name for name in phony if not re.search(rf"^  make {name} +\S", shown, re.MULTILINE)
    ] == []
    settings = re.findall(r"^([A-Z0-9_]+) +\?=", MAKEFILE, re.MULTILINE)
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


def test_its_error_of_predictions_is_the_reports():
    report = make_report(read_campaign_folder(ROOT / "runs" / "gce-2017-07"), [])
    (row,) = [row for row in prediction_rows([report]) if row["epochs"] == 3]
    flat = " ".join(README.split())
    assert f"the median error is {row['median']}, the largest {row['largest']}" in flat


def test_the_pages_examples_are_files_that_can_be_read(tmp_path):
    page = (ROOT / "site_src" / "pages" / "own-logs.md").read_text(encoding="utf-8")
    mapping, prices = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "mapping.yml").write_text(mapping, encoding="utf-8")
    (tmp_path / "prices.yml").write_text(prices, encoding="utf-8")
    log = "step;time;loss;accuracy;val_accuracy\n1;00:50;2.5;40;41.5\n2;01:35.5;2;50;51\n"
    place = tmp_path / "logs" / "g5.xlarge"
    place.mkdir(parents=True)
    (place / "resnet50_torch.3.csv").write_text(log, encoding="utf-8")
    (place / "summary.csv").write_text("x\n", encoding="utf-8")
    report = import_logs(
        str(tmp_path / "logs"), tmp_path / "runs", mapping=str(tmp_path / "mapping.yml")
    )
    assert report.unplaced == ()
    (run,) = read_campaign_folder(report.folder).runs
    assert [epoch.elapsed for epoch in run.epochs] == [50, 45.5]
    assert [epoch.val_acc for epoch in run.epochs] == [0.415, 0.51]
    book = read_price_file(str(tmp_path / "prices.yml"))
    assert book.usd_per_hour("n1-highcpu-8", "own") == pytest.approx(0.25 * 1.17)
    assert book.usd_per_hour("k80", "on-demand") == pytest.approx((0.45 * 1.1 + 0.05) * 1.17)
    for command in re.findall(r"^make .*$", page, re.MULTILINE):
        assert make("--dry-run", *shlex.split(command)[1:]).returncode == 0
