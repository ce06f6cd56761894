"""Installs packages in clean roots, serves there, and plays.

    test.py                     what `make dist` has made: `make dist-test`
    test.py --program PROGRAM   a program that was built with this system's compiler: `make package-test`

What `make dist` has made: In a minimal Debian 12 and a minimal Debian 13, the package is installed with apt, an ordinary
user starts `mimosa serve`, Chromium outside and the native client of the tarball inside play; then the package
is removed, and the tarball's program serves in its place. Each Debian is also booted, with systemd, and a user has the
service installed and removed. Then podman runs the image as docs/use/install.md does, on a
machine of its own, and the tarball's client plays there from another. A program: it is packed, and its package is installed in a
minimal root of the release of Debian that this system is, serves, is played with Chromium outside, and is removed. Each
step prints the seconds that it took. Needs root, mmdebstrap, Chromium and web/node_modules. The roots are kept in
out/dist-test.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DIST = ROOT / "out/dist"
KEPT = ROOT / "out/dist-test"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
# Each suite of Debian with its libavcodec.
SUITES = {"bookworm": "libavcodec59", "trixie": "libavcodec61"}
PORT = 18080
SERVE = [
    "serve",
    "--bind",
    "127.0.0.1",
    "--http-port",
    str(PORT),
    "--udp-port",
    "18081",
]
# As a graphics processor's encoder is driven, of which there is none.
HARDWARE = ["--encoder", "gstreamer", "--encoder-element", "x264enc"]
GSTREAMER = [f"gstreamer1.0-plugins-{name}" for name in ("base", "bad", "ugly")]
# The machine on which a container runs, and the other one, which plays.
MACHINE, PLAYER = "machine", "player"
ADDRESS, PLAYERS_ADDRESS = "203.0.113.7", "203.0.113.20"
# Limits that a process may set that may not raise its own.
LIMITS = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"]
# The user that serves and plays.
USER = "player"
APT = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "--yes"]
APT += ["--no-install-recommends", "install"]
# Seconds after which a page that does not answer is an error, also on a machine that does much else.
PATIENCE = 60


def main() -> None:
    if os.environ.get("MIMOSA_DIST_TEST") != "inside":
        # The mounts below end with the process.
        os.environ["MIMOSA_DIST_TEST"] = "inside"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=Path)
    program = parser.parse_args().program
    if program:
        built(program)
        return
    package = only("mimosa_*_amd64.deb")
    tarball = only("mimosa-*-x86_64-linux.tar.xz")
    for suite, decoder in SUITES.items():
        print(f"{suite}:")
        root = fresh(suite)
        installed(root, package, tarball, decoder)
        unpacked(root)
        booted(suite, package)
    contained(only("mimosa-*-image.tar"), tarball)


def built(program: Path) -> None:
    """Packs this program, installs the package, serves and plays with it, and removes it."""
    suite = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    if suite not in SUITES:
        sys.exit(f"this system is no Debian of {' or '.join(SUITES)}: there is no root")
    with tempfile.TemporaryDirectory() as folder:
        with step("packing"):
            pack = [sys.executable, str(ROOT / "scripts/dist/pack.py"), "--fast"]
            pack += ["--version", "0+built", "--epoch", str(int(time.time()))]
            run(*pack, str(program), folder)
        with step(f"a clean root of {suite}"):
            root = fresh(suite)
        package = next(Path(folder).glob("*.deb"))
        run("cp", str(package), str(root / "tmp"))
        with step("apt-get update, and install ./mimosa.deb"):
            inside(root, "apt-get", "-qq", "update", user="root")
            inside(root, *APT, f"/tmp/{package.name}", user="root")
    with served(root, "mimosa") as url:
        watched(url)
    purged(root)


def only(pattern: str) -> Path:
    """The newest file of out/dist with such a name."""
    found = sorted(DIST.glob(pattern), key=lambda path: path.stat().st_mtime)
    return (
        found[-1] if found else sys.exit(f"no {pattern} in {DIST}: first `make dist`")
    )


def fresh(suite: str) -> Path:
    """A root as it is after the installation of Debian, with a user, and what programs need to run in it."""
    root = bare(suite, suite)
    run("mount", "-t", "proc", "proc", str(root / "proc"))
    run("mount", "--rbind", "/dev", str(root / "dev"))
    return root


def bare(suite: str, name: str) -> Path:
    """The files of such a root, in a folder of this name."""
    KEPT.mkdir(parents=True, exist_ok=True)
    image, root = KEPT / f"{suite}.tar", KEPT / name
    if not image.exists():
        command = ["mmdebstrap", "--variant=apt", "--include=ca-certificates,passwd"]
        command += [f"--keyring={KEYS}", suite, str(image)]
        run(*command, "http://deb.debian.org/debian")
    run("rm", "-rf", str(root))
    root.mkdir()
    run("tar", "-xf", str(image), "-C", str(root))
    run("chroot", str(root), "useradd", "--create-home", USER)
    # Debian's installer writes it; mmdebstrap does not.
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n")
    (root / "etc/resolv.conf").write_text(Path("/etc/resolv.conf").read_text())
    return root


def installed(root: Path, package: Path, tarball: Path, decoder: str) -> None:
    """Serves and plays with the package."""
    inside(root, "apt-get", "-qq", "update", user="root")
    run("cp", str(package), str(root / "tmp"))
    run("tar", "-xf", str(tarball), "-C", str(root / "opt"), "--no-same-owner")
    begun = time.monotonic()
    with step("apt-get install ./mimosa.deb"):
        inside(root, *APT, f"/tmp/{package.name}", user="root")
    inside(root, "mimosa", "--version", prints=True)
    with served(root, "mimosa") as url:
        watched(url)
        print(f"  {time.monotonic() - begun:6.1f} s  from the package to a picture")
        # Asked before libavcodec comes, which brings libx264 and SVT-AV1 with it.
        doctor = inside(root, "mimosa", "doctor", "--http-port", "0", "--udp-port", "0")
        assert "OpenH264" in doctor and "install Debian's libx264-164" in doctor, doctor
        program = unpacked_program(root)
        refused = inside(root, program, "play", url, "--headless", fails=True)
        assert "libavcodec" in refused and decoder in refused, refused
        with step(f"apt-get install {decoder}"):
            inside(root, *APT, decoder, user="root")
        played(root, url)
    refused = inside(root, "mimosa", *SERVE, *HARDWARE, fails=True)
    assert f"install Debian's {GSTREAMER[0]}" in refused, refused
    with step("apt-get install GStreamer"):
        inside(root, *APT, *GSTREAMER, user="root")
    with served(root, "mimosa", *HARDWARE) as url:
        played(root, url)
    purged(root)


def purged(root: Path) -> None:
    """Removes the package, and all that was in it."""
    with step("apt-get purge mimosa"):
        command = ["apt-get", "-qq", "--yes", "purge", "mimosa"]
        inside(root, *command, user="root")
    left = [path for path in (root / "usr").rglob("*mimosa*") if path.is_file()]
    assert not left, left


def unpacked(root: Path) -> None:
    """Serves and plays with the tarball alone."""
    with served(root, unpacked_program(root)) as url:
        # The client says when it leaves; a browser's place is free only a while after its end.
        played(root, url)
        watched(url)


# What a user's commands do once systemd runs, as root.
TRY_SERVICE = """#!/bin/bash
exec >/opt/try.log 2>&1
trap poweroff EXIT
set -ex
loginctl enable-linger {user}
id=$(id -u {user})
as_user() {{
    su {user} -c "XDG_RUNTIME_DIR=/run/user/$id DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$id/bus $*"
}}
until as_user systemctl --user is-system-running; do sleep 0.2; done
# Twice, as it may be.
as_user mimosa service install
as_user mimosa service install
as_user systemctl --user is-enabled mimosa
until as_user mimosa urls | grep '^play'; do sleep 0.2; done
as_user mimosa service status | grep active
as_user mimosa service uninstall
if as_user systemctl --user is-active mimosa; then exit 1; fi
if [ -e /home/{user}/.config/systemd/user/mimosa.service ]; then exit 1; fi
# The package's own unit.
as_user systemctl --user enable --now mimosa
until as_user mimosa urls | grep '^play'; do sleep 0.2; done
as_user systemctl --user disable --now mimosa
if as_user systemctl --user is-active mimosa; then exit 1; fi
echo all is well
"""
TRY_UNIT = """[Unit]
After=multi-user.target
[Service]
ExecStart=/opt/try.sh
TimeoutStartSec=infinity
"""


def booted(suite: str, package: Path) -> None:
    """Boots a root with systemd, and has a user install the service, look at it and remove it."""
    root = bare(suite, f"{suite}-booted")
    run("cp", str(package), str(root / "tmp"))
    inside(root, "apt-get", "-qq", "update", user="root")
    systemd = ["systemd-sysv", "dbus-user-session", "libpam-systemd"]
    inside(root, *APT, *systemd, f"/tmp/{package.name}", user="root")
    script = root / "opt/try.sh"
    script.write_text(TRY_SERVICE.format(user=USER))
    script.chmod(0o755)
    units = root / "etc/systemd/system"
    (units / "try.service").write_text(TRY_UNIT)
    wants = units / "multi-user.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "try.service").symlink_to("../try.service")
    boot = ["systemd-nspawn", "--boot", f"--directory={root}", "--private-network"]
    boot += ["--register=no", "--keep-unit"]
    with step("booted, and mimosa service install and uninstall"):
        quiet = {"stdin": subprocess.DEVNULL, "stdout": -1, "stderr": -1}
        # Its status is that of powering off.
        subprocess.run(boot, check=False, timeout=4 * PATIENCE, **quiet)
    said = (root / "opt/try.log").read_text()
    assert "\nall is well\n" in said, said


def contained(image: Path, tarball: Path) -> None:
    """Runs the image on a machine, both ways, and plays there from another machine."""
    print("podman:")
    with tempfile.TemporaryDirectory(dir=KEPT) as folder, machines():
        run("tar", "-xf", str(tarball), "-C", folder)
        client = next(Path(folder).glob("mimosa-*/bin/mimosa"))
        engine = ["podman", f"--root={folder}/root", f"--runroot={folder}/run"]
        engine += ["--storage-driver=vfs", "--cgroup-manager=cgroupfs"]
        engine = [*on(MACHINE), *engine, "--runtime=runc"]
        with step("podman load"):
            run(*engine, "load", "-i", str(image))
        listed = ["images", "--format={{.Repository}}:{{.Tag}}"]
        name = subprocess.check_output([*engine, *listed], text=True).strip()
        published = ["-p", "8080:8080", "-p", "8081:8081/udp"]
        told = ["serve", "--bind", "0.0.0.0", "--advertise", ADDRESS]
        for ways, command in [(["--network=host"], []), (published, told)]:
            line = ["run", "--rm", *LIMITS, *ways, name, *command]
            with step(f"podman {' '.join(line)}"):
                host = subprocess.Popen(
                    [*engine, *line], stdout=-1, stderr=-1, text=True
                )
                url = printed(host, f"https://{ADDRESS}")
            try:
                play = [str(client), "play", url, "--headless", "--report", "-"]
                play += ["--pictures", "120", "--seconds", str(PATIENCE)]
                report = subprocess.check_output([*on(PLAYER), *play], text=True)
                shown = json.loads(report)["frames"]["shown"]
                assert shown >= 120, report
                print(f"          {shown} pictures from another machine")
            finally:
                host.terminate()
                host.communicate()
        # Its files belong to others, and its mounts are in the way.
        run(*engine, "system", "reset", "--force")


@contextmanager
def machines() -> Iterator[None]:
    """While this runs, there are two machines with a cable between them."""
    run("mkdir", "-p", "/run/netns")
    run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
    ends = [(MACHINE, ADDRESS), (PLAYER, PLAYERS_ADDRESS)]
    for machine, _ in ends:
        run("ip", "netns", "add", machine)
        run("ip", "-n", machine, "link", "set", "lo", "up")
    cable = ["type", "veth", "peer", "name", "eth0", "netns", PLAYER]
    run("ip", "-n", MACHINE, "link", "add", "eth0", *cable)
    for machine, address in ends:
        run("ip", "-n", machine, "address", "add", f"{address}/24", "dev", "eth0")
        run("ip", "-n", machine, "link", "set", "eth0", "up")
    try:
        yield
    finally:
        for machine, _ in ends:
            run("ip", "netns", "delete", machine)


def on(machine: str) -> list[str]:
    """What a command begins with that runs there. (`ip netns exec` would hide the control groups.)"""
    return ["nsenter", f"--net=/run/netns/{machine}"]


def unpacked_program(root: Path) -> str:
    found = next(root.glob("opt/mimosa-*/bin/mimosa"))
    return f"/{found.relative_to(root)}"


@contextmanager
def served(root: Path, program: str, *flags: str) -> Iterator[str]:
    """While this runs, `mimosa serve` answers at the URL that this gives, which has its token."""
    command = ["chroot", f"--userspec={USER}", str(root), "env", "-i"]
    command += [f"HOME=/home/{USER}", "PATH=/usr/bin:/bin", program, *SERVE, *flags]
    with step("mimosa serve, until its page is there"):
        host = subprocess.Popen(command, stdout=-1, stderr=-1, text=True)
        url = printed(host)
        wait_for_page(host, url)
    try:
        yield url
    finally:
        host.terminate()
        host.communicate()


def printed(host: subprocess.Popen, begins: str = "") -> str:
    """The URL for playing that begins so, which the host prints."""
    for line in host.stdout:
        if line.startswith("play ") and line.split()[1].startswith(begins):
            return line.split()[1]
    sys.exit("mimosa serve ended:\n" + host.stderr.read())


def wait_for_page(host: subprocess.Popen, url: str) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if host.poll() is not None:
            sys.exit("mimosa serve ended:\n" + "".join(host.communicate()))
        try:
            with urllib.request.urlopen(url.split("#")[0], timeout=1) as answer:
                assert b"<html" in answer.read()
                return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"no page at {url} within {PATIENCE} s")


def watched(url: str) -> None:
    """Plays with Chromium."""
    with step("Chromium, from its start to the first picture"):
        run("node", str(ROOT / "scripts/dist/watch.mjs"), url)


def played(root: Path, url: str) -> None:
    """Plays with the tarball's native client for three seconds."""
    command = [unpacked_program(root), "play", url, "--headless", "--probe"]
    with step("mimosa play for 3 s"):
        report = json.loads(inside(root, *command, "--seconds", "3", "--report", "-"))
    pictures, input = report["frames"], report["input"]
    print(
        f"          {report['encoder']}, connected after {report['connected_after']} ms"
    )
    print(f"          frames {json.dumps(pictures)}, input {json.dumps(input)}")


@contextmanager
def step(what: str) -> Iterator[None]:
    """Prints how long the step took."""
    begun = time.monotonic()
    yield
    print(f"  {time.monotonic() - begun:6.1f} s  {what}", flush=True)


def inside(
    root: Path,
    *command: str,
    user: str = USER,
    fails: bool = False,
    prints: bool = False,
) -> str:
    """What a command prints in the root; with `fails`, what it complains about."""
    home = "/root" if user == "root" else f"/home/{user}"
    path = "/usr/sbin:/usr/bin:/sbin:/bin"
    whole = ["chroot", f"--userspec={user}", str(root), "env", "-i"]
    whole += [f"HOME={home}", f"PATH={path}", *command]
    done = subprocess.run(whole, check=False, stdout=-1, stderr=-1, text=True)
    if (done.returncode != 0) != fails:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    if prints:
        print("  " + done.stdout.replace("\n", "\n  ").rstrip())
    return done.stderr if fails else done.stdout


def run(*command: str) -> None:
    """Runs a command that must succeed."""
    done = subprocess.run(command, check=False, stdout=-1, stderr=-1, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
