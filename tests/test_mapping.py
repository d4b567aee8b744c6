"""Other people's logs through a declared mapping: paths, names, columns, units; by hand."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.declared import DeclaredError
from generator.labels import label_cells
from generator.measures import cell_table
from generator.reading import read_campaign_folder
from launcher.imports import import_logs
from launcher.imports.mapping import read_mapping
from launcher.imports.patterns import PathPattern
from models.run import Status, list_run_folders, read_campaign, read_run
from tests.importing import FILES, HEAD, LOG, seconds_of


@pytest.fixture
def place(tmp_path):
    """Return a function that imports files by a mapping's text: {path: text}."""

    def make(files, mapping=FILES, **options):
        source = tmp_path / "source"
        for name, content in files.items():
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        (tmp_path / "mapping.yml").write_text(HEAD + mapping, encoding="utf-8")
        return import_logs(
            str(source), tmp_path / "runs", mapping=str(tmp_path / "mapping.yml"), **options
        )

    return make


def one_log(format_text):
    """Return a mapping of one file a run whose logs are written as some YAML says."""
    return FILES + "format:\n" + "".join(f"  {line}\n" for line in format_text.splitlines())


def test_names_become_the_catalogs_or_the_campaigns_own(place):
    report = place(
        {"small/mnist_mlp_pip.csv": LOG, "big/resnet_torch.csv": LOG.replace("3.5", "4")}
    )
    assert report.unplaced == ()
    assert seconds_of(report) == {
        "big/torch/resnet/r0": ["4", "2.5", "2.25"],
        "n1-highcpu-8/pip/mnist_mlp/r0": ["3.5", "2.5", "2.25"],
    }
    card = read_campaign(report.folder)
    # Two pairs of (build, instance) and two workloads: two cells have no log.
    assert len(card.cells) == 4
    assert card.instances.keys() == {"big"}
    assert (card.instances["big"].vcpus, card.builds["torch"].framework) == (96, "PyTorch 2.9")
    resnet = read_run(report.folder / "big" / "torch" / "resnet" / "r0").manifest
    assert (resnet.hardware.vcpus, resnet.software.framework) == (96, "PyTorch 2.9")
    assert (resnet.dataset.name, resnet.dataset.kind) == ("ImageNet", "unknown")
    assert resnet.planned_epochs == 3
    campaign = read_campaign_folder(report.folder)
    cells = label_cells(cell_table(campaign, {}, "as-published"), campaign)
    statuses = dict(
        zip(cells["plain_label"] + " " + cells["workload"], cells["status"], strict=True)
    )
    assert statuses == {
        "8 vCPUs, pip mnist_mlp": "unpriced",
        "8 vCPUs, pip resnet": "missing",
        "96 vCPUs, torch mnist_mlp": "missing",
        "96 vCPUs, torch resnet": "unpriced",
    }


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("huge/resnet_pip.csv", "unknown instance 'huge' (choose from big, small)"),
        ("big/resnet_mxnet.csv", "unknown build 'mxnet' (choose from pip, torch)"),
        ("big/vgg_pip.csv", "unknown workload 'vgg' (choose from mnist_mlp, resnet)"),
        ("big/deep/resnet_pip.csv", "its path is like none of {instance}/{workload}_{build}.csv"),
    ],
)
def test_a_name_that_nobody_declared_is_listed_never_guessed(place, path, reason):
    report = place({"small/mnist_mlp_pip.csv": LOG, path: LOG})
    (item,) = report.unplaced
    assert (item.file, item.reason) == (path, reason)
    assert len(seconds_of(report)) == 1


def test_a_path_that_can_be_split_in_two_ways_needs_names_that_tell(place):
    names = FILES.replace("mnist_mlp: ,", "mnist: , mnist_mlp: ,").replace("torch:", "mlp_pip:")
    report = place({"big/resnet_pip.csv": LOG, "big/mnist_mlp_pip.csv": LOG}, names)
    (item,) = report.unplaced
    assert item.reason == "its path can be read as mnist/mlp_pip/big or mnist_mlp/pip/big"


def test_two_logs_of_one_run_are_both_listed(place):
    twice = FILES.replace("{instance}/", "{*}/{instance}/")
    files = {
        "a/big/resnet_pip.csv": LOG,
        "b/big/resnet_pip.csv": LOG,
        "a/small/resnet_pip.csv": LOG,
    }
    report = place(files, twice)
    assert [item.file for item in report.unplaced] == list(files)[:2]
    assert report.unplaced[0].reason == "a log of resnet/pip/big, as b/big/resnet_pip.csv is"
    assert list(seconds_of(report)) == ["n1-highcpu-8/pip/resnet/r0"]


def test_repeats_are_numbered_in_their_order(place):
    many = FILES.replace("_{build}.csv", "_{build}.{run}.csv")
    logs = {f"big/resnet_pip.{run}.csv": LOG.replace("3.5", f"{run}.5") for run in ("10", "2", "1")}
    assert seconds_of(place(logs, many)) == {
        "big/pip/resnet/r0": ["1.5", "2.5", "2.25"],
        "big/pip/resnet/r1": ["2.5", "2.5", "2.25"],
        "big/pip/resnet/r2": ["10.5", "2.5", "2.25"],
    }


@pytest.mark.parametrize(
    ("how", "log", "seconds"),
    [
        # 1500 ms; 0.025 h = 90 s; 1.5 min = 90 s; 2:05.5 = 125.5 s; 1:00:01 = 3601 s.
        ("time: {unit: ms}", "epoch,elapsed\n0,1500\n1,20.5\n", ["1.5", "0.0205"]),
        ("time: {unit: h}", "epoch,elapsed\n0,0.025\n1,1\n", ["90", "3600"]),
        ("time: {unit: min}", "epoch,elapsed\n0,1.5\n1,0.1\n", ["90", "6"]),
        ('time: {unit: "mm:ss"}', "epoch,elapsed\n0,02:05.5\n1,100:00\n", ["125.5", "6000"]),
        ('time: {unit: "h:mm:ss"}', "epoch,elapsed\n0,1:00:01\n1,0:00:10\n", ["3601", "10"]),
        # 4.1 − 1.7 is 2.3999999999999995 in binary: not here.
        ("time: {cumulative: true}", "epoch,elapsed\n0,1.7\n1,4.1\n", ["1.7", "2.4"]),
        (
            'time: {unit: "mm:ss", cumulative: true}',
            "epoch,elapsed\n0,00:50\n1,01:35\n",
            ["50", "45"],
        ),
        ("first_epoch: 1", "epoch,elapsed\n1,1.50\n2,1.25\n", ["1.50", "1.25"]),
        ("number_rows: true", "elapsed\n1.50\n1.25\n", ["1.50", "1.25"]),
        ("columns: {epoch: step, elapsed: dur}", "step,dur\n0,1\n1,2\n", ["1", "2"]),
        ('delimiter: ";"\ndecimal: ","', "epoch;elapsed\n0;1,5\n1;2,25\n", ["1.5", "2.25"]),
        ('delimiter: "\\t"', "epoch\telapsed\n0\t1.5\n1\t1\n", ["1.5", "1"]),
        ("header: [epoch, elapsed]", "0,1.5\n1,1\n", ["1.5", "1"]),
        ("{}", "\ufeffepoch , elapsed\n0, 1.5\n1, 1\n\n", ["1.5", "1"]),
        # Numbers of epochs as pandas writes them where one is missing; rows in any order.
        ("{}", "epoch,elapsed\n1.0,2\n0.0,1\n", ["1", "2"]),
    ],
)
def test_units_and_columns(place, how, log, seconds):
    how = "" if how == "{}" else how
    report = place({"big/mnist_mlp_pip.csv": log}, one_log(how) if how else FILES)
    assert report.unplaced == ()
    assert seconds_of(report) == {"big/pip/mnist_mlp/r0": seconds}


def test_an_accuracy_in_per_cent(place):
    how = "accuracy: percent\ncolumns: {acc: accuracy}"
    log = "epoch,elapsed,accuracy,val_acc,lr\n0,1,98.25,7,0.1\n1,1,,100,0.1\n"
    report = place({"big/mnist_mlp_pip.csv": log}, one_log(how))
    assert report.unused == (("lr", 1),)
    (folder,) = list_run_folders(report.folder)
    epochs = read_run(folder).epochs
    assert [(epoch.acc, epoch.val_acc) for epoch in epochs] == [(0.9825, 0.07), (None, 1.0)]


@pytest.mark.parametrize(
    ("how", "log", "line", "reason"),
    [
        ("time: {unit: ms}", "epoch,elapsed\n0,1\n1,soon\n", 3, "elapsed 'soon' is no number"),
        ("time: {unit: ms}", "epoch,elapsed\n0,1e999\n", 2, "elapsed '1e999' is no number"),
        ('time: {unit: "mm:ss"}', "epoch,elapsed\n0,1:02:03\n", 2, "not written as mm:ss"),
        ('time: {unit: "mm:ss"}', "epoch,elapsed\n0,-1:02\n", 2, "elapsed '-1:02' is negative"),
        ("time: {cumulative: true}", "epoch,elapsed\n0,2\n1,2\n", 3, "not more than the epoch's"),
        ("first_epoch: 1", "epoch,elapsed\n0,1\n1,1\n", 2, "epoch '0' where epochs begin at 1"),
        ("first_epoch: 0", "epoch,elapsed\n1,1\n2,1\n", 2, "epoch"),
        ("first_epoch: 0", "epoch,elapsed\n0.5,1\n", 2, "epoch '0.5' is no whole number"),
        ("first_epoch: 0", "epoch,elapsed\n0,0\n", 2, "not a positive number of seconds"),
        ("first_epoch: 0", "epoch,elapsed\n1,1\n0,1\n1,1\n", 4, "epoch"),
        ("columns: {elapsed: s}", "epoch,elapsed\n0,1\n", 1, "no column 's' among epoch, elapsed"),
        ("first_epoch: 0", "epoch,elapsed\n", 0, "the log has no epochs"),
        ("first_epoch: 0", 'epoch,elapsed\n0,"1\n', 0, "not CSV in UTF-8"),
        ("first_epoch: 0", b"epoch,elapsed\n0,\xff\n", 0, "not CSV in UTF-8"),
    ],
)
def test_a_broken_log_is_listed_with_its_line(place, how, log, line, reason):
    good = "epoch,elapsed\n" if "columns" not in how else "epoch,s\n"
    good += "".join(f"{epoch + ('1' in how)},{1 + epoch}:00\n" for epoch in range(2))
    if ":ss" not in how:
        good = good.replace(":00", "")
    report = place({"small/mnist_mlp_pip.csv": good, "big/mnist_mlp_pip.csv": log}, one_log(how))
    (item,) = report.unplaced
    assert (item.file, item.line) == ("big/mnist_mlp_pip.csv", line)
    assert reason in item.reason
    assert list(seconds_of(report)) == ["n1-highcpu-8/pip/mnist_mlp/r0"]


FLAT = """files:
  - path: "all.{}"
    fields: {{workload: model, build: wheel, instance: machine, run: seed}}
workloads: {{mlp: mnist_mlp}}
instances: {{m8: n1-highcpu-8, m16: n1-highcpu-16}}
format: {{columns: {{elapsed: seconds}}}}
"""
ROWS = [
    # Not in the order of epochs, and runs among each other.
    ("mlp", "pip", "m8", "7", 1, 2.5),
    ("mlp", "pip", "m16", "7", 0, 9.0),
    ("mlp", "pip", "m8", "7", 0, 3.5),
    ("mlp", "pip", "m8", "9", 0, 4.5),
    ("mlp", "pip", "m16", "7", 1, 8.0),
    ("mlp", "pip", "m8", "9", 1, 5.5),
]
COLUMNS = ("model", "wheel", "machine", "seed", "epoch", "seconds")
FLAT_RUNS = {
    "n1-highcpu-16/pip/mnist_mlp/r0": ["9.0", "8.0"],
    "n1-highcpu-8/pip/mnist_mlp/r0": ["3.5", "2.5"],
    "n1-highcpu-8/pip/mnist_mlp/r1": ["4.5", "5.5"],
}


def test_a_flat_file_holds_many_runs(place):
    lines = [",".join(COLUMNS), *(",".join(map(str, row)) for row in ROWS)]
    report = place({"all.csv": "\n".join(lines) + "\n"}, FLAT.format("csv"))
    assert report.unplaced == ()
    assert seconds_of(report) == FLAT_RUNS
    lines += ["mlp,pip,m32,7,0,1", "mlp,pip,m16,8,0,soon"]
    report = place({"all.csv": "\n".join(lines) + "\n"}, FLAT.format("csv"))
    assert [(item.line, item.reason) for item in report.unplaced] == [
        (8, "unknown instance 'm32' (choose from m16, m8)"),
        (9, "elapsed 'soon' is not a number"),
    ]
    assert seconds_of(report) == FLAT_RUNS


def test_a_parquet_file_says_the_same(place, tmp_path):
    columns = dict(zip(COLUMNS, map(list, zip(*ROWS, strict=True)), strict=True))
    pq.write_table(pa.table(columns), tmp_path / "all.parquet")
    data = (tmp_path / "all.parquet").read_bytes()
    report = place({"all.parquet": data}, FLAT.format("parquet"))
    assert report.unplaced == ()
    assert seconds_of(report) == FLAT_RUNS
    with pytest.raises(DeclaredError, match="not Parquet"):
        place({"all.parquet": data[:-9]}, FLAT.format("parquet"), campaign="torn")


def test_a_log_that_stops_early_is_predicted_from(place):
    rest = "".join(f"{epoch},2.0\n" for epoch in range(1, 4))
    more = FILES.replace("epochs: 3", "epochs: 10")
    report = place({"big/resnet_pip.csv": "epoch,elapsed\n0,3.0\n" + rest}, more)
    campaign = read_campaign_folder(report.folder)
    (run,) = campaign.predicted_runs
    assert run.manifest.status is Status.PREEMPTED
    (time,) = cell_table(campaign, {}, "as-published")["time_s"]
    # The first, and the median of the others 9 times.
    assert time == 3.0 + 9 * 2.0


def test_files_that_are_no_logs_arent_listed(place):
    files = {"big/resnet_pip.csv": LOG, "a/b/notes.csv": "x\n", "old/c.csv": "x\n"}
    more = FILES + 'not_logs: [notes.csv, "old/{*}.csv"]\n'
    assert place(files, more).unplaced == ()


def test_expected_cells_stand_in_the_report_without_a_log(place):
    more = FILES + "expected: [{build: pip, instances: [big, n1-highcpu-8], workloads: [resnet]}]\n"
    card = read_campaign(place({"big/resnet_pip.csv": LOG}, more).folder)
    assert {(c.workload, c.build, c.instance) for c in card.cells} == {
        ("resnet", "pip", "big"),
        ("resnet", "pip", "n1-highcpu-8"),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("files: []\n", "files"),
        ('files: [{path: "{workload}.csv", build: pip}]\n', "nothing tells the instance"),
        (FILES.replace('.csv"}', '.csv", build: pip}'), "the build is told twice"),
        (FILES.replace("{build}", "{wheel}"), "unknown field {wheel}"),
        (FILES.replace("{build}", "{build"), "a brace without its other"),
        (FILES.replace("{instance}/", "../{instance}/"), "it leads out of the source"),
        (one_log("columns: {seconds: elapsed}"), "'seconds' is no column of the run format"),
        (one_log("time: {unit: days}"), "format.time.unit = 'days'"),
        (FILES + "worklods: {}\n", "unknown key 'worklods'; did you mean 'workloads'?"),
        (FILES + "campaing: x\n", "unknown key 'campaing'"),
    ],
)
def test_a_faulty_mapping_gets_one_line(tmp_path, text, reason):
    (tmp_path / "m.yml").write_text(HEAD + text, encoding="utf-8")
    with pytest.raises(DeclaredError) as caught:
        read_mapping(str(tmp_path / "m.yml"))
    assert "m.yml:" in str(caught.value)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_mapping_that_is_not_there():
    with pytest.raises(
        DeclaredError, match="no such mapping; name a file, or did you mean 'gce-20"
    ):
        read_mapping("gce-2017")


def test_patterns_by_hand():
    pattern = PathPattern("{workload}_{build}.csv")
    assert pattern.matches("a_b_c.csv") == [
        {"build": "b_c", "workload": "a"},
        {"build": "c", "workload": "a_b"},
    ]
    assert pattern.matches("a/b_c.csv") == []
    assert pattern.matches("a_b.csvx") == []
    assert PathPattern("{workload}/{workload}.csv").matches("a/b.csv") == []
    assert PathPattern("{*}/x.csv").matches("y/x.csv") == [{}]


@given(st.text("ab_/.", max_size=12), st.text("ab_/.", max_size=12))
def test_a_pattern_finds_the_text_that_filled_it(workload, build):
    path = f"x-{workload}-{build}.csv"
    found = PathPattern("x-{workload}-{build}.csv").matches(path)
    fits = workload and build and "/" not in workload + build
    assert ({"workload": workload, "build": build} in found) == bool(fits)


@given(st.binary(max_size=200))
def test_no_bytes_stop_an_import(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("any")
    (folder / "s" / "big").mkdir(parents=True)
    (folder / "s" / "big" / "resnet_pip.csv").write_bytes(data)
    (folder / "s" / "big" / "mnist_mlp_pip.csv").write_text(LOG)
    (folder / "m.yml").write_text(HEAD + FILES)
    report = import_logs(str(folder / "s"), folder / "runs", mapping=str(folder / "m.yml"))
    assert (report.written, len(report.unplaced)) == (1, 1)
