"""Makes the image of `make dist`: a host in a container, without a container engine.

    image.py PACKAGE FOLDER

Installs PACKAGE (the .deb) in a fresh root of Debian 13, as packaging/Containerfile does, and
writes FOLDER/mimosa-V-image.tar, which `docker load` and `podman load` read. Needs mmdebstrap and root.
"""

import argparse
import hashlib
import io
import json
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

from pack import sums

SUITE = "trixie"
# As in the Containerfile.
PACKAGES = "ca-certificates,passwd,xvfb,pulseaudio,pulseaudio-utils"
USER = "mimosa"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    version = options.package.name.split("_")[1]
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    path = options.folder / f"mimosa-{version}-image.tar"
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        layer = Path(temporary) / "layer.tar"
        root(options.package, layer)
        load(layer, path, version, epoch)
    sums(options.folder, version)


def root(package: Path, layer: Path) -> None:
    """Writes the files of a root with the package as a tar."""
    command = ["mmdebstrap", "--variant=minbase", f"--include={PACKAGES}"]
    command += [f"--keyring={KEYS}"]
    command += [f"--customize-hook=copy-in {package.absolute()} /tmp"]
    install = "apt-get install --yes --no-install-recommends"
    command += [f'--customize-hook=chroot "$1" {install} /tmp/{package.name}']
    command += [f'--customize-hook=rm "$1"/tmp/{package.name}']
    command += [f'--customize-hook=chroot "$1" useradd -m -u 1000 {USER}']
    command += [SUITE, str(layer), "http://deb.debian.org/debian"]
    subprocess.run(command, check=True)


def load(layer: Path, path: Path, version: str, epoch: int) -> None:
    """Writes a tar with one layer, its settings and the manifest that `docker load` reads."""
    with layer.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    settings = {
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": USER,
            "Entrypoint": ["mimosa"],
            "Cmd": ["serve", "--bind", "0.0.0.0"],
            "Env": ["PATH=/usr/local/bin:/usr/bin:/bin:/usr/games"],
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
    described = json.dumps(settings).encode()
    name = f"{hashlib.sha256(described).hexdigest()}.json"
    tag = version.replace("+", "-")
    manifest = [
        {
            "Config": name,
            "RepoTags": [f"mimosa:{tag}"],
            "Layers": [f"{digest}/layer.tar"],
        }
    ]
    with tarfile.open(path, "w") as archive:

        def add(member: str, data: bytes) -> None:
            info = tarfile.TarInfo(member)
            info.size, info.mtime = len(data), epoch
            archive.addfile(info, io.BytesIO(data))

        add(name, described)
        add("manifest.json", json.dumps(manifest).encode())
        info = archive.gettarinfo(layer, f"{digest}/layer.tar")
        info.mtime, info.uid, info.gid, info.uname, info.gname = epoch, 0, 0, "", ""
        with layer.open("rb") as file:
            archive.addfile(info, file)


if __name__ == "__main__":
    main()
