"""Compiles and runs every test in Rust but those in the documentation; `make test` calls it.

    scripts/tests.py real [OPTION OF CARGO]...
    scripts/tests.py quiet
    scripts/tests.py virtual

It runs them as `cargo test` does, in another order. `real` compiles all of them. Tests of crates/apps and
crates/platform depend on what time it is: they have sockets, servers of displays and sound, and the kernel's
TCP. It runs those alone, except that the program's tests, which leave most of the processors' time,
are those of `quiet`. The tests in virtual time, which are those of all other crates, are those of `virtual`:
they run beside others, with what these leave.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Which tests `real` has compiled, for the others.
COMPILED = ROOT / "out/tests.json"
# The layers whose tests depend on the time.
REAL = ("apps", "platform")
# Those of them that leave time: sessions of a few seconds, and connections of the kernel, most of which wait for a
# link of 50 Mbit/s.
QUIET = {("cli", "cli"), ("cli", "link"), ("cli", "playing")}


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
        return (self.crate.name, self.name) in QUIET

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
    stage, *cargo = sys.argv[1:]
    if stage == "real":
        found = compiled(cargo)
        COMPILED.parent.mkdir(exist_ok=True)
        COMPILED.write_text(json.dumps(found))
    tests = [
        Test(executable, Path(crate))
        for executable, crate in json.loads(COMPILED.read_text())
    ]
    quiet = [test for test in tests if test.is_quiet]
    assert len(quiet) == len(QUIET), f"not all of {QUIET}: one was renamed"
    stages = {
        "real": [test for test in tests if test.is_real and not test.is_quiet],
        "quiet": quiet,
        "virtual": [test for test in tests if not test.is_real],
    }
    sys.exit(0 if pass_all(stages[stage]) else 1)


def compiled(cargo: list[str]) -> list[tuple[str, str]]:
    """Compiles all tests. Gives the executable of each and the folder of its crate."""
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
        (message["executable"], str(Path(message["manifest_path"]).parent))
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
