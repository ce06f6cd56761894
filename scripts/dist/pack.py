"""Packs a built program as a Debian package and as a tarball, for `make dist`.

    pack.py PROGRAM FOLDER --version V --epoch SECONDS [--fast]

Writes mimosa_V_amd64.deb, mimosa-V-x86_64-linux.tar.xz, mimosa-V.spdx.json, SHA256SUMS, and latest.json, which the
setting `updates` of other hosts may name, into FOLDER. The same program, version and time give the same bytes: files are sorted, belong to root,
and have this time. --fast leaves out the notices and compresses less, for the test of this file.
"""

import argparse
import email.utils
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import sbom

ROOT = sbom.ROOT
PACKAGING = ROOT / "packaging"
# Where the package has each file of packaging/ and web/.
FILES = {
    "packaging/mimosa.service": "usr/lib/systemd/user/mimosa.service",
    "packaging/60-mimosa.rules": "usr/lib/udev/rules.d/60-mimosa.rules",
    "packaging/mimosa.desktop": "usr/share/applications/mimosa.desktop",
    "web/src/mark.svg": "usr/share/icons/hicolor/scalable/apps/mimosa.svg",
    "packaging/copyright": "usr/share/doc/mimosa/copyright",
    "LICENSE-MIT": "usr/share/doc/mimosa/LICENSE-MIT",
    "LICENSE-APACHE": "usr/share/doc/mimosa/LICENSE-APACHE",
}
COMPLETIONS = {
    "bash": "usr/share/bash-completion/completions/mimosa",
    "fish": "usr/share/fish/vendor_completions.d/mimosa.fish",
    "zsh": "usr/share/zsh/vendor-completions/_mimosa",
}
# There is no address to write to; `invalid` is reserved for that (RFC 2606).
MAINTAINER = "The Mimosa contributors <mimosa@mimosa.invalid>"
CONTROL = """\
Package: mimosa
Version: {version}
Architecture: amd64
Maintainer: {maintainer}
Installed-Size: {size}
Depends: {depends}
Recommends: xvfb, {decoders}
Suggests: pulseaudio, pulseaudio-utils, libx264-164 | libx264-165, libsvtav1enc1,
 gstreamer1.0-plugins-base, gstreamer1.0-plugins-bad
Section: net
Priority: optional
Description: stream games to a browser with almost no queue in the network
 mimosa serve streams a game, an X display or a built-in demo to a browser or to
 the native client, mimosa play. The size of every frame follows the network.
 .
 Libraries that only some encoders need, and the decoder of mimosa play, are
 loaded when they are installed; mimosa doctor says what is missing.
"""
# Of these, any gives `mimosa play` its decoder; apt takes the one that the system has.
DECODERS = "libavcodec61 | libavcodec59 | libavcodec60 | libavcodec62 | libavcodec58"
POSTINST = """\
#!/bin/sh
set -e
# The rule holds from the next start; this makes it hold now, where udev runs.
if [ "$1" = configure ] && [ -S /run/udev/control ]; then
    udevadm control --reload || true
    udevadm trigger --subsystem-match=misc --sysname-match=uinput || true
fi
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--epoch", type=int, required=True)
    parser.add_argument("--fast", action="store_true")
    options = parser.parse_args()
    pack(options)


def pack(options: argparse.Namespace) -> None:
    """Writes all files."""
    version, epoch, folder = options.version, options.epoch, options.folder
    folder.mkdir(parents=True, exist_ok=True)
    crates = [] if options.fast else sbom.crates()
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary) / "tree"
        fill(tree, options.program, version, epoch)
        documents = tree / "usr/share/doc/mimosa"
        if crates:
            write(documents / "NOTICES", sbom.notices(crates))
            listed = sbom.spdx(crates, version, epoch)
            write(documents / "mimosa.spdx.json", listed)
            write(folder / f"mimosa-{version}.spdx.json", listed)
        tar(tree, f"mimosa-{version}", folder, epoch, options.fast)
        deb(tree, folder, version, epoch, options.fast)
    sums(folder, version)
    write(folder / "latest.json", json.dumps({"version": version.split("+")[0]}) + "\n")


def fill(tree: Path, program: Path, version: str, epoch: int) -> None:
    """Puts everything but the lists below `tree`, as it lies below / when installed."""
    place = tree / "usr/bin/mimosa"
    place.parent.mkdir(parents=True)
    shutil.copyfile(program, place)
    place.chmod(0o755)
    for source, to in FILES.items():
        write(tree / to, (ROOT / source).read_text())
    for shell, to in COMPLETIONS.items():
        write(tree / to, ask(place, "completions", shell))
    manual = tree / "usr/share/man/man1/mimosa.1.gz"
    manual.parent.mkdir(parents=True)
    manual.write_bytes(zipped(ask(place, "man")))
    log = tree / "usr/share/doc/mimosa/changelog.Debian.gz"
    log.write_bytes(zipped(changes(place, version, epoch)))


def changes(program: Path, version: str, epoch: int) -> str:
    """A log of changes with one entry, which says what the program says of itself."""
    told = "".join(f"  {line}\n" for line in ask(program, "--version").splitlines())
    date = email.utils.formatdate(epoch)
    return f"""\
mimosa ({version}) unstable; urgency=medium

  * As the program says:
{told}
 -- {MAINTAINER}  {date}
"""


def ask(program: Path, *arguments: str) -> str:
    """What the program prints."""
    return subprocess.run(
        [program.absolute(), *arguments], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o644)


def zipped(text: str) -> bytes:
    """As `gzip -9n`: without a name or a time."""
    return gzip.compress(text.encode(), 9, mtime=0)


def tar(tree: Path, name: str, folder: Path, epoch: int, fast: bool) -> None:
    """The tarball: bin, lib and share of usr, with the licences and README beside them."""

    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        info.mtime = epoch
        info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
        return info

    path = folder / f"{name}-x86_64-linux.tar.xz"
    with tarfile.open(path, "w:xz", preset=0 if fast else 9) as archive:
        # Folders come in sorted order: `add` sorts what it finds in them.
        archive.add(tree / "usr", name, filter=plain)
        for file in ["LICENSE-APACHE", "LICENSE-MIT", "packaging/README"]:
            archive.add(ROOT / file, f"{name}/{Path(file).name}", filter=plain)


def deb(tree: Path, folder: Path, version: str, epoch: int, fast: bool) -> None:
    """The Debian package."""
    size = sum(file.stat().st_size for file in tree.rglob("*") if file.is_file())
    control = CONTROL.format(
        version=version,
        maintainer=MAINTAINER,
        size=-(-size // 1024),
        depends=depends(tree / "usr/bin/mimosa"),
        decoders=DECODERS,
    )
    write(tree / "DEBIAN/control", control)
    hashes = [
        f"{hashlib.md5(file.read_bytes()).hexdigest()}  {file.relative_to(tree)}\n"
        for file in sorted(tree.rglob("usr/**/*"))
        if file.is_file()
    ]
    write(tree / "DEBIAN/md5sums", "".join(hashes))
    write(tree / "DEBIAN/postinst", POSTINST)
    (tree / "DEBIAN/postinst").chmod(0o755)
    for path in [tree, *tree.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
        os.utime(path, (epoch, epoch))
    level = "-z0" if fast else "-z9"
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", level, "--threads-max=1"]
    command += ["--build", str(tree), str(folder / f"mimosa_{version}_amd64.deb")]
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch)}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def depends(program: Path) -> str:
    """The packages of the libraries that are linked, as new as the program's symbols ask."""
    needs = f"libc6 (>= {newest(program, 'GLIBC')}), libgcc-s1, libstdc++6 (>= 9)"
    # Built in where the system that builds has none, as the root of `make dist`.
    return f"{needs}, libopus0" if "libopus.so.0" in about(program, "-p") else needs


def newest(program: Path, family: str) -> str:
    """The newest version of `family`'s symbols that the program asks for, e.g. 2.31."""
    versions = re.findall(rf"\b{family}_([0-9.]+)\b", about(program, "-T"))
    return max(versions, key=lambda it: [int(n) for n in it.split(".")], default="2.31")


def about(program: Path, what: str) -> str:
    """What objdump says of the program; nothing of a script, as in the test of this file."""
    command = ["objdump", what, str(program)]
    return subprocess.run(
        command, check=False, stdout=subprocess.PIPE, text=True
    ).stdout


def sums(folder: Path, version: str) -> None:
    """SHA-256 sums of this version's files, in the format of sha256sum."""
    files = sorted(file for file in folder.iterdir() if version in file.name)
    lines = [f"{hashlib.sha256(f.read_bytes()).hexdigest()}  {f.name}\n" for f in files]
    (folder / "SHA256SUMS").write_text("".join(lines))


if __name__ == "__main__":
    main()
