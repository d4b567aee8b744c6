"""Writes the pages as Markdown, from templates; and the navigation between them."""

from __future__ import annotations

import html
import re
import shutil
import urllib.parse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jinja2
import yaml

from generator import answers, findings, wording
from generator.drawing import Pair, draw_campaign, draw_workload, show_chart, write_charts
from generator.measures import list_rows
from generator.publish import write_campaign_data, write_index
from generator.tables import (
    answer_rows,
    break_even_rows,
    cell_rows,
    facts_of_workload,
    prediction_rows,
    price_rows,
    run_rows,
    scaling_rows,
    scenario_rows,
    software_rows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from generator.reading import Exclusion
    from generator.report import Report

_MARKDOWN = re.compile(r"([\\`*_\[\]{}#|])")


class PageError(RuntimeError):
    """A hand-written page or a template is at fault: one line which, and what to do."""


def escape_markdown(text: object) -> str:
    """Return text that Markdown shows as it is, in one line: it may come from a log."""
    flat = " ".join(str(text).split())
    return _MARKDOWN.sub(r"\\\1", html.escape(flat, quote=False))


def quote_url(address: str) -> str:
    """Return an address that can stand in a Markdown link: only http and https lead anywhere."""
    if not address.startswith(("https://", "http://")):
        return ""
    return urllib.parse.quote(address, safe="%/:?#@!$&*+,;=~")


def slug(text: str) -> str:
    """Return text as an anchor: lower case, with hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@dataclass(frozen=True)
class Site:
    """What the whole site is made of."""

    reports: Sequence[Report]
    shown: Report | None
    unreadable: Sequence[Exclusion]
    chosen: bool = False


def make_environment(templates: Path) -> jinja2.Environment:
    """Return Jinja2 for Markdown: what a template asks for must be there."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # Markdown escapes otherwise than HTML: each value goes through a filter of its own.
        autoescape=False,  # noqa: S701
    )
    environment.filters |= {
        "md": escape_markdown,
        "slug": slug,
        "url": quote_url,
        "ratio": wording.format_ratio,
        "seconds": wording.format_seconds,
        "usd": wording.format_usd,
        "percent": wording.format_percent,
        "subject": answers.in_sentence,
    }
    environment.globals |= {
        "interval": wording.format_interval,
        "count": wording.format_count,
        "join_words": wording.join_words,
        "answer_sentence": answers.answer_sentence,
        "precision_sentence": answers.precision_sentence,
        "weaknesses": answers.weaknesses,
        "evidence_sentence": answers.evidence_sentence,
        "show_figure": answers.show_figure,
        "cell_labels": answers.cell_labels,
        "answer_rows": answer_rows,
        "cell_rows": cell_rows,
        "run_rows": run_rows,
        "price_rows": price_rows,
        "software_rows": software_rows,
        "scaling_rows": scaling_rows,
        "scenario_rows": scenario_rows,
        "break_even_rows": break_even_rows,
        "facts_of_workload": facts_of_workload,
        "prediction_rows": prediction_rows,
        "rows": list_rows,
        "find_bests": findings.find_bests,
        "find_compiled_savings": findings.find_compiled_savings,
        "find_scaling": findings.find_scaling,
        "find_break_evens": findings.find_break_evens,
        "find_price_changes": findings.find_price_changes,
    }
    return environment


def write_pages(docs: Path, source: Path, site: Site) -> list[Any]:
    """Write all pages, charts and data below ``docs``; return the navigation.

    Args:
        docs: a folder, made anew.
        source: ``site_src/``.
        site: what to show.

    Raises:
        PageError: for a hand-written page without a title, or a template at fault.
    """
    shutil.rmtree(docs, ignore_errors=True)
    docs.mkdir(parents=True)
    shutil.copytree(source / "assets", docs / "assets")
    environment = make_environment(source / "templates")
    for report in site.reports:
        _write_data(docs, report)
    shown = site.shown.name if site.shown else ""
    write_index(docs / "data", [report.campaign for report in site.reports], shown)
    nav: list[Any] = [{"Which machine?": "index.md"}]
    charts_of: dict[str, dict[str, Pair]] = {}
    for report in site.reports:
        charts = charts_of[report.name] = _draw(docs, report)
        pages = _write_campaign(docs, environment, report, site, charts)
        # MkDocs takes a title as HTML.
        nav.append({html.escape(report.campaign.card.title, quote=False): pages})
    start = {
        "site": site,
        "report": site.shown,
        "charts": charts_of.get(shown, {}),
    }
    _render(
        environment, "start.md.j2", docs / "index.md", start, charts_at=f"campaigns/{shown}/charts"
    )
    nav += _write_hand_written(source / "pages", docs, site)
    return nav


def _write_data(docs: Path, report: Report) -> None:
    write_campaign_data(
        docs / "data" / report.name,
        report.campaign,
        report.cells.sort_values(["workload", "build", "instance"], kind="stable"),
        report.runs,
        report.all_judgements,
        report.claim_sources,
        report.exclusions,
    )


def _draw(docs: Path, report: Report) -> dict[str, Pair]:
    charts = draw_campaign(report)
    for workload in sorted(set(report.cells["workload"])):
        charts |= draw_workload(report, workload)
    write_charts(docs / "campaigns" / report.name / "charts", charts)
    return charts


def _write_campaign(
    docs: Path,
    environment: jinja2.Environment,
    report: Report,
    site: Site,
    charts: dict[str, Pair],
) -> list[Any]:
    """Write a campaign's pages; return its part of the navigation."""
    base = f"campaigns/{report.name}"
    context = {"site": site, "report": report, "charts": charts}
    workloads = []
    for workload in sorted(set(report.cells["workload"])):
        place = f"{base}/workloads/{workload}.md"
        _render(
            environment,
            "workload.md.j2",
            docs / place,
            context | {"workload": workload},
            charts_at="../charts",
        )
        workloads.append({workload: place})
    nav: list[Any] = []
    templates = sorted(
        name
        for name in environment.list_templates()
        if name.startswith("campaign/") and name.endswith(".md.j2")
    )
    # The overview first; the rest by name.
    for name in sorted(templates, key=lambda name: (name != "campaign/index.md.j2", name)):
        page = name.removeprefix("campaign/").removesuffix(".md.j2")
        place = f"{base}/{page}.md"
        text = _render(environment, name, docs / place, context, charts_at="charts")
        nav.append({_title_of(text, name): place})
    nav.insert(1, {"Workloads": workloads})
    return nav


def _render(
    environment: jinja2.Environment,
    template: str,
    target: Path,
    context: dict[str, Any],
    *,
    charts_at: str,
) -> str:
    charts = context["charts"]

    def picture(name: str) -> str:
        return show_chart(charts, name, charts_at)

    try:
        text = environment.get_template(template).render(context, picture=picture)
    except jinja2.TemplateError as error:
        line = getattr(error, "lineno", None)
        place = f"site_src/templates/{template}" + (f":{line}" if line else "")
        raise PageError(f"{place}: {error.message or error}; mend the template") from None
    # Three empty lines and more are a template's, not the page's.
    text = re.sub(r"\n{3,}", "\n\n", text)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8", newline="\n")
    return text


def _title_of(text: str, name: str) -> str:
    match = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    try:
        front = yaml.safe_load(match[1]) if match else {}
    except yaml.YAMLError as error:
        raise PageError(f"{name}: its front matter is not YAML ({error}); mend it") from None
    title = front.get("nav", front.get("title")) if isinstance(front, dict) else None
    if not title:
        raise PageError(f"{name}: no title; begin it with ---, title: …, ---")
    return str(title)


def _write_hand_written(folder: Path, docs: Path, site: Site) -> list[Any]:
    """Render the hand-written pages: they are templates, so that no figure is written by hand."""
    environment = make_environment(folder)
    nav = []
    for page in sorted(folder.glob("*.md")):
        context = {"site": site, "charts": {}}
        text = _render(environment, page.name, docs / page.name, context, charts_at="")
        nav.append({_title_of(text, f"site_src/pages/{page.name}"): page.name})
    return nav
