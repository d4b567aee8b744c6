"""Makes campaigns on disk for tests: in the run format, through the project's own writers."""

import functools
import http.server
import os
import random
import shutil
import threading
from pathlib import Path

import pytest
from hypothesis import settings

from catalog.claim import read_claim_files
from catalog.entries import CATALOG
from generator.pages import Site, write_pages
from generator.reading import read_campaigns
from generator.report import choose_shown, make_report
from generator.site import build_site, write_config
from models.run import (
    Baseline,
    CampaignCard,
    CellName,
    DatasetUsed,
    EpochRecord,
    Hardware,
    Manifest,
    Status,
    WorkloadUsed,
    format_epochs,
    hash_parameters,
    run_folder,
    sha256_of,
    write_campaign,
    write_manifest,
)

ROOT = Path(__file__).parents[1]


# The same examples everywhere, and no clock: a test is red for a reason, not for a day. To look
# for new ones: make test PYTEST=--hypothesis-profile=search
settings.register_profile("project", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, deadline=None, max_examples=1000)
settings.load_profile("project")

# A make that runs the tests would have the makes that they run speak of it.
PLAIN_ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
}


def write_run(
    campaign_folder,
    cell,
    elapsed,
    *,
    run_id="r0",
    status=Status.COMPLETE,
    profile="full",
    warmup=0,
    **changes,
):
    """Write one run with the given seconds an epoch; return its folder."""
    workload, build, instance = cell
    parameters = {"epochs": changes.get("planned_epochs", len(elapsed)), "layers": "Dense 1"}
    log = format_epochs(
        tuple(
            EpochRecord(epoch, seconds, loss=1.0, val_acc=0.5 + epoch / 100)
            for epoch, seconds in enumerate(elapsed)
        )
    )
    fields = {
        "run_id": run_id,
        "campaign": campaign_folder.name,
        "workload": WorkloadUsed(
            name=workload, parameters=parameters, sha256=hash_parameters(parameters)
        ),
        "profile": profile,
        "build": build,
        "instance": instance,
        "repeat": int(run_id[1:].split("-")[0]),
        "status": status,
        "planned_epochs": len(elapsed) or None,
        "warmup_epochs": warmup,
        "dataset": DatasetUsed(name="MNIST", kind="real"),
        "hardware": Hardware(vcpus=1),
        "epochs_sha256": sha256_of(log.encode()),
    }
    manifest = Manifest(**(fields | changes))
    folder = run_folder(campaign_folder, manifest)
    folder.mkdir(parents=True)
    (folder / "epochs.csv").write_text(log, encoding="utf-8", newline="\n")
    write_manifest(folder, manifest)
    return folder


def write_card(campaign_folder, cells, *, baseline=None, profile="full", **changes):
    """Write a campaign's card; the baseline is a (build, instance)."""
    campaign_folder.mkdir(parents=True, exist_ok=True)
    names = tuple(CellName(workload=w, build=b, instance=i) for w, b, i in sorted(cells))
    fields = {
        "campaign": campaign_folder.name,
        "title": "A test",
        "date": "2026-01-02",
        "profile": profile,
        "cells": names,
        "baseline": Baseline(build=baseline[0], instance=baseline[1]) if baseline else None,
    }
    write_campaign(campaign_folder, CampaignCard(**(fields | changes)))


@pytest.fixture
def make_campaign(tmp_path):
    """Return a function that writes a campaign: {cell: [seconds of each epoch of each run]}."""

    def make(times, *, name="trial", warmup=0, profile="full", baseline=None, **card):
        folder = tmp_path / "runs" / name
        write_card(folder, times, baseline=baseline, profile=profile, **card)
        for cell, runs in times.items():
            for index, elapsed in enumerate(runs):
                # The same seconds in two cells are no copy: a copy has the same log to the byte.
                write_run(folder, cell, elapsed, run_id=f"r{index}", warmup=warmup, profile=profile)
        return folder

    return make


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return a function that puts a stand-in for a command on the PATH: a shell script.

    No engine answers, and there is no GPU, until a test puts others there.
    """
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def make(name, script):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    for name in ("docker", "podman"):
        make(name, 'echo "Cannot connect to the daemon" >&2; exit 1')
    make("nvidia-smi", "exit 9")
    return make


@pytest.fixture
def dice():
    """Return seeded random numbers."""
    return random.Random(20170705)


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def browser():
    """Return a Chromium; two in one thread can't be, so it ends with the file's tests."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """Return the folder of the report as it is published, without this machine's own runs."""
    target = tmp_path_factory.mktemp("report")
    campaigns, unreadable = read_campaigns([ROOT / "runs"])
    claims = read_claim_files(CATALOG / "claims")
    reports = [make_report(item, claims) for item in campaigns if not item.name.startswith("local")]
    site = Site(reports, choose_shown(reports, ""), unreadable)
    docs = target / "build" / "docs"
    nav = write_pages(docs, ROOT / "site_src", site)
    write_config(ROOT / "mkdocs.yml", target / "build" / "mkdocs.yml", docs, nav)
    build_site(target / "build" / "mkdocs.yml", target / "site")
    return target / "site"


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        """Say nothing."""


@pytest.fixture(scope="session")
def served(report):
    """Return the address that the report is served at."""
    handler = functools.partial(_Handler, directory=str(report))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture
def look(browser):
    """Return a function that opens a page; it keeps what it asked for and what was said."""
    contexts = []

    def open_page(address, *, width=1280, theme="light", **options):
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=theme, **options)
        contexts.append(context)
        page = context.new_page()
        page.asked, page.said = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()


def search(page, words):
    """Search for words as a reader does, by the keyboard; return the hits' addresses."""
    page.keyboard.press("/")
    page.keyboard.type(words)
    page.wait_for_selector(".md-search-result__link")
    links = page.locator(".md-search-result__link")
    return [link.get_attribute("href") for link in links.all()]
