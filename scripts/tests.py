"""Compiles and runs every test: `make test`, once what they need is installed and the page is built.

    scripts/tests.py [--beside COMMAND] [OPTION OF CARGO]...

Tests of crates/apps and crates/platform wait for sockets, for the kernel's TCP, for servers of
displays and sound; those in a browser wait most of their time. With what these leave of the
processors, a second process runs what waits for nothing: the tests in virtual time, which are those
of all other crates, those in the documentation, and then COMMAND. What it has to say is in
out/tests-beside.log, and is printed when both have ended.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "out/tests-beside.log"
# The layers whose tests wait, and should not wait for processors.
REAL = ("apps", "platform")
# The weight of a session of processes among others: the least there is (sched(7), "autogroup").
LEAST = "19"


@dataclass
class Test:
    """An executable with tests, and the folder of its crate."""

    executable: str
    crate: Path

    def waits(self) -> bool:
        return self.crate.parent.name in REAL

    def passes(self) -> bool:
        """Runs it as `cargo test` would."""
        name = Path(self.executable).name.rsplit("-", 1)[0]
        print(f"\n{self.crate.relative_to(ROOT)}: {name}", flush=True)
        place = {**os.environ, "CARGO_MANIFEST_DIR": str(self.crate)}
        begun = time.monotonic()
        code = subprocess.run(
            [self.executable], check=False, cwd=self.crate, env=place
        ).returncode
        print(f"{time.monotonic() - begun:.1f} s", flush=True)
        if code != 0:
            print(f"failed, with {code}: {self.executable}", flush=True)
        return code == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--beside", default="true", metavar="COMMAND")
    arguments, cargo = parser.parse_known_args()
    tests = compiled(cargo)
    beside = start_beside(tests, cargo, arguments.beside)
    try:
        passed = run_real(tests)
        passed &= os.waitpid(beside, 0)[1] == 0
        beside = None
    finally:
        if beside is not None:
            os.killpg(beside, signal.SIGTERM)
    print(LOG.read_text())
    if not passed:
        sys.exit("tests failed: see above")


def compiled(cargo: list[str]) -> list[Test]:
    """Compiles all tests, and says where they are."""
    command = [
        "cargo",
        "test",
        "--workspace",
        "--lib",
        "--bins",
        "--tests",
        "--examples",
    ]
    command += [*cargo, "--no-run", "--message-format=json-render-diagnostics"]
    done = subprocess.run(
        command, check=False, cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        sys.exit(done.returncode)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    return [
        Test(message["executable"], Path(message["manifest_path"]).parent)
        for message in messages
        if message["reason"] == "compiler-artifact"
        and message["profile"]["test"]
        and message["executable"]
    ]


def run_real(tests: list[Test]) -> bool:
    """Runs what waits, up to the first that fails."""
    passed = all(test.passes() for test in tests if test.waits())
    for name in ("test", "e2e"):
        passed = passed and ran(["npm", "--prefix", "web", "run", name])
    return passed


def start_beside(tests: list[Test], cargo: list[str], command: str) -> int:
    """Starts the process that runs what waits for nothing, and gives its number."""
    LOG.parent.mkdir(exist_ok=True)
    log = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        passed = False
        try:
            os.setsid()
            os.dup2(log, 1)
            os.dup2(log, 2)
            yield_processors()
            passed = all(test.passes() for test in tests if not test.waits())
            passed = passed and ran(["cargo", "test", "--workspace", "--doc", *cargo])
            passed = passed and ran(["sh", "-c", command])
        except OSError:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(0 if passed else 1)
    os.close(log)
    return child


def yield_processors() -> None:
    """Leaves the processors to whatever else wants them."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    group = Path("/proc/self/autogroup")
    if group.exists():
        group.write_text(LEAST)


def ran(command: list[str]) -> bool:
    """Whether a command succeeded."""
    print(f"\n{' '.join(command)}", flush=True)
    return subprocess.run(command, check=False, cwd=ROOT).returncode == 0


if __name__ == "__main__":
    main()
