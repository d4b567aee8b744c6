"""Claims get their verdicts from the logs: the 2017 ones as given, others by hand."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.claim import Claim, read_claim_files
from catalog.declared import DeclaredError
from generator.claims import give_verdict
from generator.reading import read_campaign_folder
from generator.report import make_report
from tests.conftest import ROOT

REFERENCE = ROOT.parent / "shared" / "reference" / "gce-2017-07"
GPU, CPU = ("mnist_mlp", "pip", "k80"), ("mnist_mlp", "pip", "n1-highcpu-8")
FAST = ("mnist_mlp", "compiled", "n1-highcpu-8")
SAVING = {"rule": "ratio", "measure": "time", "of": {"builds": ["compiled"]}}
SAVING |= {"to": {"builds": ["pip"]}, "same": ["instance"], "figure": "saving"}


def judge(folder, *rules, workloads=()):
    """Return the judgement of one claim on a campaign."""
    claim = Claim(id="it", sentence="It is so", workloads=workloads, rules=rules)
    files = [read_claim_files()[0].model_copy(update={"claims": (claim,)})]
    (judgement,) = make_report(read_campaign_folder(folder), files).all_judgements
    return judgement


@pytest.fixture(scope="module")
def judgements_2017():
    report = make_report(read_campaign_folder(ROOT / "runs" / "gce-2017-07"), read_claim_files())
    return {item.claim.id: item for item in report.all_judgements}


def read_expected_claims():
    lines = (REFERENCE / "claims.md").read_text(encoding="utf-8").splitlines()
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in lines if line[:1] == "|"]
    return rows[2:]


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="shared/reference/gce-2017-07 is not here")
def test_the_2017_verdicts(judgements_2017):
    rows = read_expected_claims()
    assert len(rows) == 18
    words = {"partly": "partly supported"}
    for name, _, _, verdict, evidence in rows:
        found = judgements_2017[name]
        assert found.verdict == words.get(verdict, verdict), name
        # "6 of 7", "7 of 8": what holds, of how many.
        if match := re.match(r"(\d+) of (\d+)", evidence):
            assert (found.hold, len(found.comparisons)) == (int(match[1]), int(match[2])), name


@pytest.mark.parametrize(
    ("name", "smallest", "largest"),
    [
        # From claims.md's evidence, as it is rounded there.
        ("mlp-gpu-fastest", 1.076, 1.076),
        ("mlp-32-64-alike", 0.877, 1.005),
        ("cnn-gpu-twice", 2.302, 6.463),
        ("cnn-cost", 0.314, 1.998),
        ("cnn-32-beats-64", 1.218, 1.270),
        ("deep-cnn-compiled", 0.117, 0.337),
        ("fasttext-gpu", 3.081, 5.298),
        ("lstm-gpu-mild", 1.301, 1.961),
        ("compiled-small", 0.007, 0.432),
        ("cheapest-8", 0.040, 0.341),
        ("balance-16", 1.393, 1.393),
    ],
)
def test_the_2017_evidence(judgements_2017, name, smallest, largest):
    found = judgements_2017[name]
    assert (found.smallest, found.largest) == pytest.approx((smallest, largest), abs=5.1e-4)


def test_what_fails_is_named(judgements_2017):
    def failing(name):
        return [item for item in judgements_2017[name].comparisons if item.holds is False]

    assert [item.workload for item in failing("gpu-fastest")] == ["imdb_bidirectional_lstm"]
    (item,) = failing("bilstm-gpu-slow")
    assert item.to[1:] == ("pip", "n1-highcpu-8")
    assert item.figure == pytest.approx(1.960, abs=5e-4)
    (item,) = failing("64-like-32")
    assert (item.workload, item.of[1]) == ("mnist_mlp", "compiled")
    cheaper = {
        "imdb_bidirectional_lstm",
        "lstm_text_generation",
        "mnist_mlp",
        "text_generator_keras",
    }
    assert {item.workload for item in failing("spot-needed")} == cheaper


def test_a_claim_without_cells_has_no_data(judgements_2017):
    for name in ("onednn-saves", "xla-saves", "second-vcpu-pays"):
        assert judgements_2017[name].verdict == "no data"


def test_a_changed_log_changes_the_verdict(make_campaign):
    slower = make_campaign({CPU: [[10.0]], FAST: [[11.0]]}, name="slower")
    faster = make_campaign({CPU: [[10.0]], FAST: [[9.0]]}, name="faster")
    assert judge(slower, SAVING | {"above": 0}).verdict == "refuted"
    assert judge(faster, SAVING | {"above": 0}).verdict == "supported"
    assert judge(faster, SAVING | {"above": 0}).smallest == pytest.approx(0.1)


def test_a_changed_price_changes_the_verdict(make_campaign):
    rule = {"rule": "ratio", "measure": "cost", "of": {"device": "CPU"}, "to": {"device": "GPU"}}
    times = {GPU: [[10.0]], CPU: [[40.0]]}
    cheap = make_campaign(times, name="cheap", usd_per_hour={"k80": 1.0, "n1-highcpu-8": 0.2})
    dear = make_campaign(times, name="dear", usd_per_hour={"k80": 1.0, "n1-highcpu-8": 0.3})
    none = make_campaign(times, name="none", usd_per_hour={"k80": 1.0})
    assert judge(cheap, rule | {"below": 1}).verdict == "supported"
    assert judge(dear, rule | {"below": 1}).verdict == "refuted"
    assert judge(none, rule | {"below": 1}).verdict == "no data"


def test_a_changed_bound_changes_the_verdict(make_campaign):
    folder = make_campaign({CPU: [[10.0]], FAST: [[7.0]]})
    assert judge(folder, SAVING | {"at_least": 0.25, "at_most": 0.4}).verdict == "supported"
    assert judge(folder, SAVING | {"at_least": 0.35, "at_most": 0.4}).verdict == "refuted"


def test_an_interval_that_crosses_the_bound_is_inconclusive(make_campaign):
    # Times of 9 to 11 against 8 to 12: the interval of the saving is 1 − 11/8 to 1 − 9/12.
    folder = make_campaign(
        {CPU: [[8.0], [10.0], [12.0]], FAST: [[9.0], [9.5], [11.0]]}, name="wide"
    )
    found = judge(folder, SAVING | {"above": 0})
    assert found.verdict == "inconclusive"
    assert (found.comparisons[0].low, found.comparisons[0].high) == pytest.approx((-0.375, 0.25))
    narrow = make_campaign(
        {CPU: [[8.0], [10.0], [12.0]], FAST: [[1.0], [1.1], [1.2]]}, name="narrow"
    )
    assert judge(narrow, SAVING | {"above": 0}).verdict == "supported"
    assert judge(narrow, SAVING | {"below": 0}).verdict == "refuted"


def test_an_interval_that_covers_the_range_is_inconclusive(make_campaign):
    folder = make_campaign({CPU: [[8.0], [10.0], [12.0]], FAST: [[9.0], [9.5], [11.0]]})
    assert judge(folder, SAVING | {"at_least": 0.1, "at_most": 0.2}).verdict == "inconclusive"


def test_the_best_cell_by_hand(make_campaign):
    best = {"rule": "best", "measure": "time", "named": {"builds": ["compiled"]}}
    folder = make_campaign(
        {GPU: [[10.0]], CPU: [[40.0]], FAST: [[9.0]]}, name="a", baseline=("pip", "k80")
    )
    found = judge(folder, best)
    assert (found.verdict, found.smallest) == ("supported", pytest.approx(0.9))
    folder = make_campaign(
        {GPU: [[10.0]], CPU: [[40.0]], FAST: [[11.0]]}, name="b", baseline=("pip", "k80")
    )
    assert judge(folder, best).verdict == "refuted"


@given(st.lists(st.sampled_from([True, False, None]), max_size=6))
def test_verdicts(holds):
    verdict = give_verdict(holds)
    if not holds:
        assert verdict == "no data"
    elif True in holds and False in holds:
        assert verdict == "partly supported"
    elif None in holds:
        assert verdict == "inconclusive"
    else:
        assert verdict == ("supported" if all(holds) else "refuted")


HEAD = "source: {title: T, author: A}\nclaims:\n"
START = "  - id: a\n    sentence: S\n    rules:\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  - {id: a, sentence: S, rules: []}\n", r"claims\.yml:3: .*at least 1"),
        ("  - {id: A b, sentence: S, rules: []}\n", r"claims\.yml:3: .*match pattern"),
        (
            START + "      - {rule: ratio, measure: time, of: {}, to: {}}\n",
            r"claims\.yml:6: a rule without a bound; give above",
        ),
        (
            START + "      - {rule: ratio, measure: time, of: {}, to: {}, above: 1, at_least: 1}\n",
            r"claims\.yml:6: two bounds on one side",
        ),
        (
            START + "      - {rule: ratio, measure: tiem, of: {}, to: {}, above: 1}\n",
            r"claims\.yml:6: .*'tiem'",
        ),
    ],
)
def test_a_wrong_claim_is_one_line(tmp_path, text, message):
    (tmp_path / "claims.yml").write_text(HEAD + text)
    with pytest.raises(DeclaredError, match=message):
        read_claim_files(tmp_path)


def test_an_id_stands_once(tmp_path):
    rule = "      - {rule: ratio, measure: time, of: {}, to: {}, above: 1}\n"
    for name in ("a", "b"):
        text = HEAD + "  - id: same\n    sentence: S\n    rules:\n" + rule
        (tmp_path / f"{name}.yml").write_text(text)
    with pytest.raises(DeclaredError, match=r"b\.yml: claim 'same' stands in a\.yml"):
        read_claim_files(tmp_path)
