"""The plan is typed and checked: each fault gets its file, its line and its mend."""

import pytest

from catalog.declared import DeclaredError
from catalog.entries import read_builds
from launcher.plan import NO_GPU, Selection, list_lacking, read_plan
from tests.conftest import ROOT

WORKLOADS = ["mnist_cnn", "mnist_mlp"]
GOOD = """campaign: mine
profile: quick
repeats: 2
workloads: [mnist_mlp]
builds:
  pip: [local-max, local-1]
  pip-onednn: [local-max]
baseline: {build: pip, instance: local-max}
"""


def plan_of(tmp_path, text, cpus=2, **selection):
    path = tmp_path / "plan.yml"
    path.write_text(text)
    return read_plan(path, Selection(**selection), WORKLOADS, cpus)


def pairs(cells):
    return [(cell.workload, cell.build, cell.instance) for cell in cells]


def test_a_plan_for_this_machine(tmp_path):
    plan = plan_of(tmp_path, GOOD)
    assert pairs(plan.cells) == [
        ("mnist_mlp", "pip", "local-2"),
        ("mnist_mlp", "pip", "local-1"),
        ("mnist_mlp", "pip-onednn", "local-2"),
    ]
    assert plan.selected == plan.cells
    assert (plan.campaign, plan.profile, plan.repeats) == ("mine", "quick", 2)
    assert plan.baseline.instance == "local-2"


def test_the_projects_plan_has_21_cells_of_3_repeats():
    names = [path.stem for path in (ROOT / "models/workloads").glob("[!_]*.py")]
    plan = read_plan(ROOT / "plan.yml", Selection(), names, 2)
    assert (len(plan.cells), plan.repeats, plan.profile) == (21, 3, "quick")


def test_on_one_cpu_no_cell_stands_twice(tmp_path):
    plan = plan_of(tmp_path, GOOD, cpus=1)
    assert pairs(plan.cells) == [
        ("mnist_mlp", "pip", "local-1"),
        ("mnist_mlp", "pip-onednn", "local-1"),
    ]


def test_builds_may_share_instances(tmp_path):
    text = GOOD.replace("builds:\n  pip: [local-max, local-1]\n  pip-onednn: [local-max]\n", "")
    plan = plan_of(tmp_path, text + "builds: [pip, pip-xla]\ninstances: [local-max]\n")
    assert [pair[1:] for pair in pairs(plan.cells)] == [("pip", "local-2"), ("pip-xla", "local-2")]


def test_another_profile_is_another_campaign(tmp_path):
    plan = plan_of(tmp_path, GOOD, profile="smoke")
    assert (plan.campaign, plan.profile, plan.repeats) == ("mine-smoke", "smoke", 1)
    assert plan_of(tmp_path, GOOD, profile="quick").campaign == "mine"
    assert plan_of(tmp_path, GOOD, profile="full").repeats == 2


def test_a_selection_narrows(tmp_path):
    plan = plan_of(tmp_path, GOOD, builds=("pip",), instances=("local-max",))
    assert pairs(plan.selected) == [("mnist_mlp", "pip", "local-2")]
    assert len(plan.cells) == 3


def test_the_plan_may_give_prices(tmp_path):
    plan = plan_of(tmp_path, GOOD + "usd_per_hour: {local-max: 0.1}\n")
    assert plan.usd_per_hour == {"local-2": 0.1}


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("repeats: 2", "repeat: 2", 3, "unknown key 'repeat'; did you mean 'repeats'"),
        ("repeats: 2", "repeats: 0", 3, "repeats = 0"),
        ("repeats: 2", "repeats: many", 3, "repeats = 'many'"),
        ("repeats: 2", "repeats: 2\nrepeats: 3", 4, "'repeats' stands twice, first in line 3"),
        ("profile: quick", "profile: fast", 2, "'full', 'quick' or 'smoke'"),
        ("campaign: mine", "campaign: ../mine", 1, "campaign = '../mine'"),
        ("[mnist_mlp]", "[mnist_mpl]", 4, "unknown workload 'mnist_mpl'; did you mean 'mnist_mlp'"),
        ("[mnist_mlp]", "[mnist_mlp, mnist_mlp]", 4, "'mnist_mlp' stands twice"),
        ("pip-onednn", "pip-onedn", 7, "unknown build 'pip-onedn'; did you mean 'pip-onednn'"),
        ("local-1]", "local-9]", 6, "'local-9' is larger than this machine, which has 2 vCPUs"),
        ("local-1]", "locale-1]", 6, "unknown instance 'locale-1'"),
        ("local-1]", "n1-highcpu-8]", 6, "'n1-highcpu-8' is not this machine"),
        ("local-1]", "local-max]", 6, "'local-max' stands twice"),
        ("{build: pip, ", "{build: pip-xla, ", 8, "the baseline pip-xla on local-2 is no cell"),
        ("baseline:", "usd_per_hour: {local-1: -1}\nbaseline:", 8, "usd_per_hour.local-1 = -1"),
        ("baseline:", "usd_per_hour: {local-7: 1}\nbaseline:", 8, "'local-7' is larger"),
        ("baseline: {build: pip, instance: local-max}\n", "", None, "'baseline' is missing"),
        ("campaign: mine", "campaign: [", None, "not YAML"),
    ],
)
def test_a_wrong_plan_is_one_line(tmp_path, old, new, line, message):
    assert old in GOOD
    with pytest.raises(DeclaredError) as error:
        plan_of(tmp_path, GOOD.replace(old, new, 1))
    text = str(error.value)
    assert message in text
    assert "\n" not in text
    if line:
        assert f"plan.yml:{line}: " in text


def test_a_build_without_its_image_is_left_out_unless_it_is_asked_for(tmp_path):
    text = GOOD.replace("pip-onednn", "compiled")
    plan = plan_of(tmp_path, text)
    assert plan.left_out == {"compiled": "an image with a compiled TensorFlow (make images)"}
    assert {cell.build for cell in plan.cells} == {"pip"}
    with pytest.raises(DeclaredError, match=r"plan\.yml:7: the build 'compiled' needs an image"):
        plan_of(tmp_path, text, builds=("compiled",))
    path = tmp_path / "plan.yml"
    plan = read_plan(path, Selection(), WORKLOADS, 2, {})
    assert (plan.left_out, {cell.build for cell in plan.cells}) == ({}, {"pip", "compiled"})


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({"workloads": ("mnist_mpl",)}, "WORKLOADS=mnist_mpl is not in the plan; did you mean"),
        ({"builds": ("compiled",)}, "BUILDS=compiled is not in the plan; choose from pip, pip-"),
        ({"instances": ("local-4",)}, "INSTANCES=local-4 is not in the plan"),
        (
            {"builds": ("pip-onednn",), "instances": ("local-1",)},
            "no cell of the plan together; it has pip on local-1, pip on local-2, pip-onednn",
        ),
    ],
)
def test_a_wrong_selection_names_the_right_ones(tmp_path, selection, message):
    with pytest.raises(DeclaredError, match=message.replace(".", r"\.")):
        plan_of(tmp_path, GOOD, **selection)


def test_an_empty_or_absent_plan(tmp_path):
    with pytest.raises(DeclaredError, match="the file is empty"):
        plan_of(tmp_path, "")
    with pytest.raises(DeclaredError, match="the file is missing"):
        read_plan(tmp_path / "no.yml", Selection(), WORKLOADS, 2)


GPU = GOOD.replace("  pip-onednn: [local-max]\n", "  pip-gpu: [local-gpu]\n") + (
    "gpu_baseline: {build: pip-gpu, instance: local-gpu}\n"
)


def plan_with(tmp_path, text, gpus, cpus=2, **selection):
    path = tmp_path / "plan.yml"
    path.write_text(text)
    lacking = list_lacking(read_builds(), gpus)
    return read_plan(path, Selection(**selection), WORKLOADS, cpus, lacking)


def test_a_gpu_is_the_baseline_where_there_is_one(tmp_path):
    plan = plan_with(tmp_path, GPU, ["Tesla K80"])
    assert (plan.baseline.build, plan.baseline.instance) == ("pip-gpu", "local-gpu")
    assert ("mnist_mlp", "pip-gpu", "local-gpu") in pairs(plan.cells)
    plan = plan_with(tmp_path, GPU, [])
    assert (plan.baseline.build, plan.baseline.instance) == ("pip", "local-2")
    assert plan.left_out == {"pip-gpu": NO_GPU}
    assert {cell.build for cell in plan.cells} == {"pip"}


def test_the_projects_plan_has_the_gpu_where_there_is_one():
    names = [path.stem for path in (ROOT / "models/workloads").glob("[!_]*.py")]
    lacking = list_lacking(read_builds(), ["Tesla K80"])
    plan = read_plan(ROOT / "plan.yml", Selection(), names, 2, lacking)
    assert (plan.baseline.build, plan.baseline.instance) == ("pip-gpu", "local-gpu")
    assert len(plan.cells) == 28


def test_a_gpu_that_is_asked_for_and_not_there_is_an_error(tmp_path):
    with pytest.raises(DeclaredError, match=r"the build 'pip-gpu' needs .*see to it"):
        plan_with(tmp_path, GPU, [], builds=("pip-gpu",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GPU.replace("[local-gpu]", "[local-max]"), "'local-max' has no GPU, and the build"),
        (
            GPU.replace("pip: [local-max, local-1]", "pip: [local-gpu]"),
            "'local-gpu' has a GPU, and",
        ),
    ],
)
def test_builds_and_instances_agree_on_the_gpu(tmp_path, text, said):
    with pytest.raises(DeclaredError, match=said):
        plan_with(tmp_path, text, ["Tesla K80"])


def test_notes_are_kept_as_they_are_written(tmp_path):
    plan = plan_of(tmp_path, GOOD + 'notes: ["A wheel of another maker."]\n')
    assert plan.notes == ("A wheel of another maker.",)
    assert plan_of(tmp_path, GOOD).notes == ()
