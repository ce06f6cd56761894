"""Compiles and runs every test in Rust but those in the documentation; `make test` calls it.

    scripts/tests.py [OPTION OF CARGO]...

It runs them as `cargo test` does, in another order. Tests of crates/apps and crates/platform depend on
what time it is: they have sockets, servers of displays and sound, and the kernel's TCP. They come
first, alone. The tests of `mimosa link` leave most of the processors' time: with that, a second
process runs the tests in virtual time, which are those of all other crates. What these print is in
out/tests-virtual.log, and is printed when both have ended.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from beside import both

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "out/tests-virtual.log"
# The layers whose tests depend on the time.
REAL = ("apps", "platform")
# Those of them that leave time: connections of the kernel, most of which wait for a link of 50 Mbit/s.
QUIET = ("cli", "link")


@dataclass
class Test:
    """An executable with tests, and the folder of its crate."""

    executable: str
    crate: Path

    @property
    def name(self) -> str:
        return Path(self.executable).name.rsplit("-", 1)[0]

    @property
    def is_real(self) -> bool:
        return self.crate.parent.name in REAL

    @property
    def is_quiet(self) -> bool:
        return (self.crate.name, self.name) == QUIET

    def passes(self) -> bool:
        """Runs it as `cargo test` would."""
        print(f"\n{self.crate.relative_to(ROOT)}: {self.name}", flush=True)
        place = {**os.environ, "CARGO_MANIFEST_DIR": str(self.crate)}
        begun = time.monotonic()
        code = subprocess.run(
            [self.executable], check=False, cwd=self.crate, env=place
        ).returncode
        print(f"{time.monotonic() - begun:.1f} s", flush=True)
        if code != 0:
            print(f"ended with {code}: {self.executable}", flush=True)
        return code == 0


def main() -> None:
    tests = compiled(sys.argv[1:])
    quiet = [test for test in tests if test.is_quiet]
    assert quiet, f"no test {QUIET}: it was renamed"
    real = [test for test in tests if test.is_real and not test.is_quiet]
    virtual = [test for test in tests if not test.is_real]
    if not pass_all(real):
        sys.exit(1)
    passed = both(lambda: pass_all(quiet), lambda: pass_all(virtual), LOG)
    sys.exit(0 if passed else 1)


def compiled(cargo: list[str]) -> list[Test]:
    """Compiles all tests, and says where they are."""
    command = ["cargo", "test", "--workspace", "--lib", "--bins", "--tests"]
    command += ["--examples", *cargo, "--no-run"]
    command += ["--message-format=json-render-diagnostics"]
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


def pass_all(tests: list[Test]) -> bool:
    """Runs one after the other, up to the first that fails."""
    return all(test.passes() for test in tests)


if __name__ == "__main__":
    main()
