#!/bin/sh
# Compiles TensorFlow for a CPU, from its source archive, into a wheel. Hours; 16 GiB and more.
#
#   build-wheel.sh --version 2.21.0 --sha256 HEX [--march native] [--out /wheels] [--jobs N] [--dry-run]
set -eu

version='' sha256='' march=native out=/wheels jobs='' dry=''

fail() {
    echo "build-wheel.sh: $1" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
        --dry-run) dry=yes; shift; continue ;;
        --version | --sha256 | --march | --out | --jobs) [ $# -ge 2 ] || fail "$1 lacks its value" ;;
        *) fail "unknown argument $1; choose from --version --sha256 --march --out --jobs --dry-run" ;;
    esac
    case $1 in
        --version) version=$2 ;;
        --sha256) sha256=$2 ;;
        --march) march=$2 ;;
        --out) out=$2 ;;
        --jobs) jobs=$2 ;;
    esac
    shift 2
done

echo "$version" | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+' ||
    fail "--version '$version' is no version of TensorFlow; give one such as 2.21.0"
echo "$sha256" | grep -Eqx '[0-9a-f]{64}' ||
    fail "--sha256 '$sha256' is no SHA-256; give that of the source archive v$version.tar.gz"
echo "$march" | grep -Eqx '[a-z0-9._-]+' ||
    fail "--march '$march' is no CPU that gcc knows; give one such as native or skylake-avx512"
[ -z "$jobs" ] || echo "$jobs" | grep -Eqx '[1-9][0-9]*' ||
    fail "--jobs '$jobs' is no number; give how many compilers may run at once"

address="https://github.com/tensorflow/tensorflow/archive/refs/tags/v$version.tar.gz"
minor=$(echo "$version" | cut -d. -f2)
# Since 2.17 Bazel makes the wheel itself; before, a program that it built did.
if [ "$minor" -ge 17 ]; then target=//tensorflow/tools/pip_package:wheel
else target=//tensorflow/tools/pip_package:build_pip_package; fi

set -- bazel build --config=opt --copt="-march=$march" --host_copt="-march=$march" \
    --repo_env=WHEEL_NAME=tensorflow_cpu
[ -z "$jobs" ] || set -- "$@" --jobs="$jobs"
set -- "$@" "$target"

# What the wheel will need of a CPU, in the words of /proc/cpuinfo: gcc names what it compiles for.
cpu_flags() {
    gcc "-march=$march" -dM -E -x c /dev/null |
        sed -n 's/^#define __\(AVX[A-Z0-9_]*\|AMX_[A-Z0-9]*\|FMA\|BMI2\|F16C\|SSE4_[12]\)__ 1$/\1/p' |
        tr 'A-Z' 'a-z' | sed -e 's/^avx512\(vnni\|bf16\|fp16\|vbmi2\|bitalg\|vpopcntdq\|vp2intersect\)$/avx512_\1/' \
        -e 's/^avxvnni$/avx_vnni/' | sort -u | tr '\n' ' ' | sed 's/ $//'
}

if [ -n "$dry" ]; then
    echo "curl --location --fail --output tensorflow.tar.gz $address"
    echo "echo '$sha256  tensorflow.tar.gz' | sha256sum --check"
    echo "$@"
    ! command -v gcc >/dev/null || echo "needs of a CPU: $(cpu_flags)"
    exit 0
fi

command -v bazel >/dev/null || fail "bazel: not found; install bazelisk"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
curl --silent --show-error --location --fail --output tensorflow.tar.gz "$address"
echo "$sha256  tensorflow.tar.gz" | sha256sum --check --quiet ||
    fail "v$version.tar.gz has another SHA-256 than --sha256 says: it is not what you mean"
tar -xzf tensorflow.tar.gz
cd "tensorflow-$version"
export PYTHON_BIN_PATH="$(command -v python3)" TF_NEED_CUDA=0 TF_NEED_ROCM=0 CC_OPT_FLAGS="-march=$march"
yes '' | ./configure >/dev/null
"$@"
mkdir -p "$out"
cpu_flags >"$out/cpu-flags.txt"
if [ "$minor" -ge 17 ]; then cp bazel-bin/tensorflow/tools/pip_package/wheel_house/*.whl "$out/"
else bazel-bin/tensorflow/tools/pip_package/build_pip_package --cpu "$out"; fi
