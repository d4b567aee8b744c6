"""Writes a containers.conf for podman in a sandbox.

There, limits may not be raised, containers have no network of their own, and there is no systemd.
Run ``python docker/sandbox-conf.py build/containers.conf``, then set CONTAINERS_CONF to that file.
pip's settings and the CA bundle of this machine are mounted while images are built, so that a
private index serves, and stays out of every image.
"""

import resource
import sys
from pathlib import Path

# Podman's own process has lower limits than its caller: what it may grant is a part of those.
_NOFILE, _NPROC = 4096, 8192
_MOUNTED = ("/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")


def format_conf(nofile: int, nproc: int, mounted: list[str]) -> str:
    """Return the text of a containers.conf, for the hard limits of this machine."""
    files, processes = (
        min(wanted, limit) if limit > 0 else wanted
        for wanted, limit in ((_NOFILE, nofile), (_NPROC, nproc))
    )
    volumes = ", ".join(f'"{path}:{path}:ro"' for path in mounted)
    return f"""[containers]
default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]
netns = "host"
volumes = [{volumes}]

[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    text = format_conf(
        resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        resource.getrlimit(resource.RLIMIT_NPROC)[1],
        [path for path in _MOUNTED if Path(path).exists()],
    )
    target.write_text(text, encoding="utf-8")
