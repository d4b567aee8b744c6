"""Runs in real containers: what they record, what they may use, what they can't touch."""

import json
import os
import re

import pytest

from catalog.entries import find_instance
from launcher.containers import start_arguments
from launcher.engines import find_image
from launcher.host import Context
from models.run import Hardware, Status
from tests.containers.conftest import PLAN, Campaign
from tests.test_jobs import found

pytestmark = pytest.mark.containers

# What a process in a run's container finds.
PROBE = """
import json, os, pathlib, shutil, socket
def write(path):
    try:
        pathlib.Path(path, "probe").write_text("x")
    except OSError as error:
        return error.strerror
    return "written"
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
limits = [pathlib.Path(p) for p in ("/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes")]
print(json.dumps({
    "cpus": sorted(os.sched_getaffinity(0)),
    "ids": [os.getuid(), os.getgid()],
    "capabilities": status["CapEff"].strip(),
    "no_new_privileges": status["NoNewPrivs"].strip(),
    "network": [name for _, name in socket.if_nameindex()],
    "writes": {path: write(path) for path in
        ("/", "/opt/models", "/opt/kerascost", "/data/keras/datasets", "/tmp", "/run-folder")},
    "data": sorted(os.listdir("/data/keras/datasets")),
    "memory": [p.read_text().strip() for p in limits if p.exists()],
    "compilers": [n for n in ("gcc", "cc", "g++", "clang", "bazel", "pip") if shutil.which(n)],
}))
"""


@pytest.fixture(scope="module")
def smoke(engine, tmp_path_factory):
    """Return a campaign whose cells were trained in both images."""
    place = tmp_path_factory.mktemp("smoke")
    plan = place / "plan.yml"
    plan.write_text(PLAN.format(profile="smoke"), encoding="utf-8")
    campaign = Campaign(engine, place / "runs" / "live", plan)
    result = campaign.run()
    assert result.returncode == 0, result.stderr
    assert f"Runs are made in containers of {engine.name} {engine.version}." in result.stderr
    return campaign


@pytest.mark.parametrize("build", ["pip", "compiled"])
def test_a_run_records_what_it_was_made_in(smoke, build):
    manifest = smoke.manifest(build)
    assert manifest["status"] == Status.COMPLETE
    software = manifest["software"]
    assert software["runner"] == smoke.engine.name
    assert software["engine_version"] == smoke.engine.version
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", software["image_digest"])
    name = f"localhost/kerascost-{build}"
    assert smoke.engine.run("image", "inspect", "--format", "{{.Id}}", name).strip().removeprefix(
        "sha256:"
    ) == software["image_digest"].removeprefix("sha256:")
    assert manifest["hardware"]["vcpus"] == 1
    assert re.fullmatch(r"[0-9a-f]{64}", software["wheel_sha256"])


def test_the_builds_differ_in_the_wheel_alone(smoke):
    pip, compiled = (smoke.manifest(build)["software"] for build in ("pip", "compiled"))
    differing = {key for key in pip if pip[key] != compiled[key]}
    assert differing == {"wheel", "wheel_sha256", "image_digest"}
    assert pip["tensorflow"] == "2.14.0"


def test_what_a_run_leaves_is_its_callers_and_no_container(smoke):
    files = [path for path in smoke.folder.rglob("*") if path.is_file()]
    assert {path.stat().st_uid for path in files} == {os.getuid()}
    assert {"epochs.csv", "run.json"} <= {path.name for path in files}
    assert smoke.containers("--all") == []


def test_what_is_complete_is_reused(smoke):
    result = smoke.run()
    assert "Runs: 0 new, 2 reused, 0 failed" in result.stdout + result.stderr


@pytest.fixture(scope="module")
def probed(engine, tmp_path_factory):
    """Return what a process in the pip image's container finds, and the container's record."""
    place = tmp_path_factory.mktemp("probe")
    keras = place / "keras" / "datasets"
    keras.mkdir(parents=True)
    (keras / "imdb.npz").write_bytes(b"not read here")
    folder = place / "run"
    folder.mkdir()
    manifest = found(hardware=Hardware(vcpus=1)).manifest
    image = find_image(engine, "localhost/kerascost-pip")
    name = f"kerascost-probe-{engine.name}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERAS_HOME", str(place / "keras"))
        context = Context(place, "auto", None, None)
        arguments = start_arguments(name, folder, manifest, context, engine, image)
    engine.run(*arguments[: arguments.index(image.digest) + 1], "python", "-c", PROBE)
    try:
        engine.run("wait", name)
        record = json.loads(engine.run("container", "inspect", name))[0]
        return json.loads(engine.run("logs", name)), record, folder
    finally:
        engine.run("rm", "--force", name)


def test_it_has_the_cpus_and_the_memory_of_its_instance(probed):
    inside, record, _ = probed
    assert inside["cpus"] == [max(os.sched_getaffinity(0))]
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert find_instance("local-1").memory_gib is None
    assert record["HostConfig"]["Memory"] == machine
    assert [int(text) for text in inside["memory"] if text.isdecimal()] in ([machine], [])


def test_it_has_no_network_and_no_rights(probed):
    inside, record, _ = probed
    assert inside["network"] in (["lo"], [])
    assert record["HostConfig"]["NetworkMode"] == "none"
    assert int(inside["capabilities"], 16) == 0
    assert inside["no_new_privileges"] == "1"
    assert inside["ids"] == [os.getuid(), os.getgid()]


def test_it_can_write_its_own_run_alone(probed):
    inside, _, folder = probed
    written = {path for path, said in inside["writes"].items() if said == "written"}
    assert written == {"/run-folder", "/tmp"}  # noqa: S108 (the container's own)
    refused = set(inside["writes"].values()) - {"written"}
    assert refused <= {"Read-only file system", "Permission denied"}
    assert (folder / "probe").stat().st_uid == os.getuid()


def test_data_is_there_to_be_read(probed):
    assert probed[0]["data"] == ["imdb.npz"]


def test_the_image_has_nothing_to_build_with(probed):
    assert probed[0]["compilers"] == []
