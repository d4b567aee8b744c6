"""The script that compiles TensorFlow, as far as it goes without compiling: what it would do."""

import subprocess

import pytest

from tests.conftest import ROOT

SCRIPT = ROOT / "docker" / "compiled" / "build-wheel.sh"


def build_wheel(*arguments):
    return subprocess.run(
        ["sh", str(SCRIPT), *arguments], capture_output=True, text=True, check=False
    )


def test_the_builders_command_line():
    result = build_wheel(
        *("--version", "2.21.0", "--sha256", "a" * 64, "--march", "skylake-avx512", "--dry-run")
    )
    assert result.returncode == 0
    fetch, check, bazel, *_ = result.stdout.splitlines()
    assert fetch.endswith("/tensorflow/tensorflow/archive/refs/tags/v2.21.0.tar.gz")
    assert check == f"echo '{'a' * 64}  tensorflow.tar.gz' | sha256sum --check"
    assert bazel.startswith("bazel build --config=opt --copt=-march=skylake-avx512 ")
    assert bazel.endswith(" //tensorflow/tools/pip_package:wheel")
    older = build_wheel("--version", "2.14.0", "--sha256", "a" * 64, "--dry-run").stdout
    assert older.splitlines()[2].endswith(":build_pip_package")


def test_the_builder_says_what_the_wheel_will_need_of_a_cpu(fake):
    # As gcc 12 -march=icelake-server -dM -E prints them, some of many.
    macros = [
        "AVX",
        "AVX512F",
        "AVX512VNNI",
        "AVX2",
        "FMA",
        "SSE4_2",
        "AVX512VPOPCNTDQ",
        "GFNI",
        "k8",
    ]
    fake("gcc", "\n".join(f'echo "#define __{macro}__ 1"' for macro in macros))
    result = build_wheel("--version", "2.21.0", "--sha256", "a" * 64, "--dry-run")
    wanted = "avx avx2 avx512_vnni avx512_vpopcntdq avx512f fma sse4_2"
    assert result.stdout.splitlines()[3] == f"needs of a CPU: {wanted}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--version '' is no version of TensorFlow"),
        (["--version", "2.21"], "--version '2.21' is no version"),
        (["--version", "2.21.0"], "--sha256 '' is no SHA-256"),
        (["--version", "2.21.0", "--sha256", "a" * 64, "--march", "x;y"], "is no CPU that gcc"),
        (["--jobs"], "--jobs lacks its value"),
        (["--flags", "x"], "unknown argument --flags; choose from --version"),
    ],
)
def test_the_builder_refuses_in_one_line(arguments, message):
    result = build_wheel(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
