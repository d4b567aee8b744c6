"""Where logs are imported from: git addresses and folders at their commits; and the command."""

import subprocess

import pytest
from typer.testing import CliRunner

from catalog.declared import DeclaredError
from launcher.__main__ import app
from launcher.imports import import_logs
from models.run import read_campaign
from tests.importing import FILES, HEAD, LOG, seconds_of


def git(folder, *arguments):
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_git_address_is_cloned_at_the_declared_commit(tmp_path):
    origin = tmp_path / "origin"
    (origin / "big").mkdir(parents=True)
    (origin / "big" / "resnet_pip.csv").write_text(LOG)
    git(origin, "init", "--quiet")
    git(origin, "add", ".")
    git(origin, "commit", "--quiet", "--message", "logs")
    first = git(origin, "rev-parse", "HEAD")
    (origin / "big" / "resnet_pip.csv").write_text(LOG.replace("3.5", "9.5"))
    git(origin, "commit", "--quiet", "--all", "--message", "other logs")
    head = git(origin, "rev-parse", "HEAD")
    mapping = tmp_path / "m.yml"
    mapping.write_text(HEAD + FILES)
    # Nothing declared: the head, and it is recorded.
    report = import_logs(f"file://{origin}", tmp_path / "a", mapping=str(mapping))
    assert read_campaign(report.folder).source.commit == head
    assert seconds_of(report)["big/pip/resnet/r0"][0] == "9.5"
    # Declared: that one, in a clone; a folder must be at it.
    mapping.write_text(HEAD.replace("author: Ada", f"author: Ada, commit: {first[:8]}") + FILES)
    report = import_logs(f"file://{origin}", tmp_path / "b", mapping=str(mapping))
    assert read_campaign(report.folder).source.commit == first[:8]
    assert seconds_of(report)["big/pip/resnet/r0"][0] == "3.5"
    with pytest.raises(DeclaredError, match=f"at commit {head[:12]}, and the mapping says"):
        import_logs(str(origin), tmp_path / "c", mapping=str(mapping))
    git(origin, "checkout", "--quiet", first)
    import_logs(str(origin), tmp_path / "c", mapping=str(mapping))
    (origin / "big" / "resnet_pip.csv").write_text(LOG.replace("3.5", "8.5"))
    with pytest.raises(DeclaredError, match=r"big/resnet_pip.csv is not as commit"):
        import_logs(str(origin), tmp_path / "c", mapping=str(mapping))
    with pytest.raises(DeclaredError, match="can't be cloned"):
        import_logs(f"file://{tmp_path}/none", tmp_path / "d", mapping=str(mapping))


def test_the_command_says_what_it_did_and_exits_by_it(tmp_path):
    (tmp_path / "s" / "big").mkdir(parents=True)
    (tmp_path / "s" / "big" / "resnet_pip.csv").write_text(LOG)
    (tmp_path / "m.yml").write_text(HEAD + FILES)
    arguments = ["import", str(tmp_path / "s"), "--mapping", str(tmp_path / "m.yml")]
    arguments += ["--runs-dir", str(tmp_path / "runs")]
    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code, "1 runs written" in result.stdout) == (0, True)
    (tmp_path / "s" / "big" / "vgg_pip.csv").write_text(LOG)
    result = CliRunner().invoke(app, [*arguments, "--json"])
    assert result.exit_code == 1
    assert '"file": "big/vgg_pip.csv"' in result.stdout
    assert "vgg_pip.csv: unknown workload 'vgg'" in result.stderr
    result = CliRunner().invoke(app, ["import", str(tmp_path / "nothing")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
