"""The seven workloads: found by their files, of the shapes of 2017, and trained for real."""

import json
import subprocess
import sys

import pytest

from models.registry import UnknownWorkloadError, find_workload, list_workloads
from models.run import Status, hash_parameters, read_run
from tests.conftest import ROOT
from tests.test_trainer import plan_run, train

# Parameters by hand, from the layers of the table: weights plus biases.
COUNTS = {
    # 784·512+512 + 512·512+512 + 512·10+10
    "mnist_mlp": 401_920 + 262_656 + 5_130,
    # 3·3·1·32+32 + 3·3·32·64+64 + 12·12·64·128+128 + 128·10+10
    "mnist_cnn": 320 + 18_496 + 1_179_776 + 1_290,
    # 896 + 9,248; 18,496 + 36,928 (3·3·64·64+64); 6·6·64·512+512; 512·10+10
    "cifar10_cnn": 896 + 9_248 + 18_496 + 36_928 + 1_180_160 + 5_130,
    # (200,000 + 1)·50 + 50 + 1: the short profiles' table
    "imdb_fasttext": 10_000_050 + 51,
    # 20,000·128 + 2·4·64·(128 + 64 + 1) + 128 + 1
    "imdb_bidirectional_lstm": 2_560_000 + 98_816 + 129,
    # 4·128·(57 + 128 + 1) + 128·57 + 57
    "lstm_text_generation": 95_232 + 7_353,
    # 57·300 + 4·128·(300 + 128 + 1) + 128·57+57 + 128·512 + 4·512 + 512·256 + 4·256 + 256·57+57
    "text_generator_keras": 17_100 + 219_648 + 7_353 + 65_536 + 2_048 + 131_072 + 1_024 + 14_649,
}
TABLE = {
    "mnist_mlp": (128, 20, 60_000, 70),
    "mnist_cnn": (128, 12, 60_000, 5),
    "cifar10_cnn": (32, 20, 50_000, 11),
    "imdb_fasttext": (32, 5, 25_000, 2),
    "imdb_bidirectional_lstm": (32, 4, 25_000, 13),
    "lstm_text_generation": (128, 10, 200_285, 14),
    "text_generator_keras": (128, 10, 200_285, 6),
}


def test_the_registry_finds_the_seven():
    assert list_workloads() == sorted(TABLE)


def test_a_workload_is_one_file(tmp_path):
    source = (ROOT / "models/workloads/mnist_mlp.py").read_text()
    (tmp_path / "mine.py").write_text(source.replace("MLP on MNIST", "Mine"))
    (tmp_path / "broken.py").write_text("WORKLOAD = None\n")
    assert list_workloads(tmp_path) == ["broken", "mine"]
    assert find_workload("mine", tmp_path).title == "Mine"
    with pytest.raises(UnknownWorkloadError, match=r"broken\.py has no WORKLOAD"):
        find_workload("broken", tmp_path)
    with pytest.raises(UnknownWorkloadError, match="no workload 'other'; choose from broken, mine"):
        find_workload("other", tmp_path)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_the_profiles(name):
    batch, epochs, samples, steps = TABLE[name]
    workload = find_workload(name)
    full, quick, smoke = (workload.parameters(p) for p in ("full", "quick", "smoke"))
    assert (full["batch_size"], full["epochs"], full["samples"]) == (batch, epochs, samples)
    assert "steps_per_epoch" not in full
    assert (quick["epochs"], quick["steps_per_epoch"], quick["samples"]) == (
        3,
        steps,
        steps * batch,
    )
    assert (smoke["epochs"], smoke["steps_per_epoch"], smoke["samples"]) == (2, 2, 2 * batch)
    share = full["validation_samples"] / full["samples"]
    assert quick["validation_samples"] == round(share * steps * batch)
    changing = {"epochs", "samples", "validation_samples", "steps_per_epoch", "embedding_rows"}
    for short in (quick, smoke):
        same = {key: value for key, value in short.items() if key not in changing}
        assert same == {key: value for key, value in full.items() if key not in changing}


def test_the_list_is_quick_and_knows_no_tensorflow():
    code = (
        "import sys; from models.__main__ import app; "
        "app(['list', '--json'], standalone_mode=False); "
        "print(sorted({'tensorflow', 'keras', 'numpy'} & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert result.stderr.strip() == "[]"
    listed = {item["name"]: item for item in json.loads(result.stdout)["workloads"]}
    assert sorted(listed) == sorted(TABLE)
    for name, item in listed.items():
        for profile, entry in item["profiles"].items():
            assert entry["parameters"] == find_workload(name).parameters(profile)
            assert entry["sha256"] == hash_parameters(entry["parameters"])


@pytest.mark.train
@pytest.mark.parametrize("name", sorted(TABLE))
def test_a_workload_trains_for_real(tmp_path, name):
    folder = plan_run(tmp_path, name)
    result = train(folder)
    assert result.returncode == 0, result.stderr
    run = read_run(folder)
    assert run.manifest.status is Status.COMPLETE
    assert len(run.epochs) == 2
    assert run.manifest.steps_per_epoch == 2
    assert run.manifest.dataset.kind in ("real", "substitute", "synthetic")
    validated = find_workload(name).full["validation_samples"] > 0
    for record in run.epochs:
        assert record.loss > 0
        assert (record.val_s is not None) is validated
        assert record.train_s + (record.val_s or 0) == pytest.approx(record.elapsed)
        assert record.cpu_s > 0


@pytest.mark.train
def test_the_models_have_the_parameters_of_the_table():
    code = """
import json
from models.registry import find_workload, list_workloads
counts = {}
for name in list_workloads():
    workload = find_workload(name)
    parameters = workload.parameters("smoke")
    data = workload.load(parameters, "synthetic", 1)
    model = workload.build(parameters, data, False)
    counts[name] = [model.count_params(), bool(model.jit_compile)]
    assert workload.build(parameters, data, True).jit_compile is True
print(json.dumps(counts))
"""
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    counts = json.loads(result.stdout.splitlines()[-1])
    assert counts == {name: [count, False] for name, count in COUNTS.items()}
