"""Compiles and runs every test in Rust but those in the documentation; `make test` calls it.

    scripts/tests.py compile [OPTION OF CARGO]...
    scripts/tests.py real
    scripts/tests.py quiet
    scripts/tests.py virtual

`compile` compiles all of them, and the others run them as `cargo test` does, in another order. Tests of crates/apps
and crates/platform depend on what time it is: they have sockets, servers of displays and sound, and the kernel's
TCP. `real` runs those alone and one executable at a time, except that the program's tests, which leave most of the
processors' time, are those of `quiet`, two at a time. The tests in virtual time, which are those of all other crates,
are those of `virtual`: they run beside those of `quiet` and the browsers, with what these leave.
"""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Which tests `compile` has compiled, for the others.
COMPILED = ROOT / "out/tests.json"
# The layers whose tests depend on the time.
REAL = ("apps", "platform")
# Those of them that leave time: sessions of a few seconds, and connections of the kernel, most of which wait for a
# link of 50 Mbit/s. The one that takes longest begins.
QUIET = [("cli", "playing"), ("cli", "link"), ("cli", "cli")]
# How many executables of a stage run at a time, where it is not one.
AT_A_TIME = {"quiet": 2}


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

    def passes(self, is_alone: bool) -> bool:
        """Runs it as `cargo test` would. Where others run beside it, what it says is printed in one piece at its end."""
        title = f"\n{self.crate.relative_to(ROOT)}: {self.name}\n"
        if is_alone:
            print(title, end="", flush=True)
            title = ""
        place = {**os.environ, "CARGO_MANIFEST_DIR": str(self.crate)}
        begun = time.monotonic()
        done = subprocess.run(
            [self.executable],
            check=False,
            cwd=self.crate,
            env=place,
            stdout=None if is_alone else subprocess.PIPE,
            stderr=None if is_alone else subprocess.STDOUT,
        )
        said = (done.stdout or b"").decode(errors="replace")
        took = f"{time.monotonic() - begun:.1f} s\n"
        if done.returncode != 0:
            took += f"ended with {done.returncode}: {self.executable}\n"
        # One call, so that two that end together do not mix.
        sys.stdout.write(title + said + took)
        sys.stdout.flush()
        return done.returncode == 0


def main() -> None:
    stage, *cargo = sys.argv[1:]
    if stage == "compile":
        found = compiled(cargo)
        COMPILED.parent.mkdir(exist_ok=True)
        COMPILED.write_text(json.dumps(found))
        return
    tests = [
        Test(executable, Path(crate))
        for executable, crate in json.loads(COMPILED.read_text())
    ]
    quiet = [test for test in tests if test.is_quiet]
    quiet.sort(key=lambda test: QUIET.index((test.crate.name, test.name)))
    assert len(quiet) == len(QUIET), f"not all of {QUIET}: one was renamed"
    stages = {
        "real": [test for test in tests if test.is_real and not test.is_quiet],
        "quiet": quiet,
        "virtual": [test for test in tests if not test.is_real],
    }
    sys.exit(0 if pass_all(stages[stage], AT_A_TIME.get(stage, 1)) else 1)


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


def pass_all(tests: list[Test], at_a_time: int) -> bool:
    """Runs them in turn, so many at a time. Begins no other once one has failed."""
    with ThreadPoolExecutor(at_a_time) as pool:
        passed = True
        running = set()
        for test in tests:
            if len(running) == at_a_time:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                passed = passed and all(one.result() for one in done)
            if not passed:
                break
            running.add(pool.submit(test.passes, at_a_time == 1))
        return all(one.result() for one in running) and passed


if __name__ == "__main__":
    main()
