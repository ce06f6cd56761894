"""Fills the tables and draws the figures of docs/ again.

In a Markdown file, `<!-- run: sim ARGUMENTS -->` is followed by what that command
prints, up to `<!-- end -->`; `<!-- draw: sim ARGUMENTS -->` names a command that
writes a figure. With --check nothing is written: whatever would change is named,
and the exit status is 1. With --quick the tables below `<!-- run at length: ... -->`
stay as they are: each of them takes a processor about ten seconds or more.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIMOSA = Path(os.environ.get("MIMOSA", ROOT / "target" / "play" / "mimosa")).absolute()
RUN = re.compile(r"(<!-- run( at length)?: (.*?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
DRAW = re.compile(r"<!-- draw: (.*?) -->")


def mimosa(arguments: list[str]) -> str:
    """What the command prints."""
    done = subprocess.run(
        [str(MIMOSA), *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return done.stdout


def filled(text: str, quick: bool) -> str:
    """The page with every table made again, or only those that are made quickly."""

    def again(match: re.Match[str]) -> str:
        head, at_length, command, _, end = match.groups()
        if quick and at_length:
            return match.group(0)
        table = mimosa(shlex.split(command)).strip()
        return f"{head}\n`mimosa {command}`\n\n{table}\n\n{end}"

    return RUN.sub(again, text)


def drawn(command: str) -> tuple[Path, bytes]:
    """The file that the command writes, and what it would hold."""
    arguments = shlex.split(command)
    index = arguments.index("--plot") + 1
    target = ROOT / arguments[index]
    with tempfile.TemporaryDirectory() as folder:
        arguments[index] = str(Path(folder) / target.name)
        mimosa(arguments)
        return target, Path(arguments[index]).read_bytes()


def main() -> int:
    """Goes through all pages."""
    check = "--check" in sys.argv[1:]
    quick = "--quick" in sys.argv[1:]
    stale = []

    def put(path: Path, content: bytes) -> None:
        if path.exists() and path.read_bytes() == content:
            return
        stale.append(path.relative_to(ROOT))
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    for page in sorted(ROOT.glob("docs/**/*.md")):
        text = page.read_text(encoding="utf-8")
        for command in DRAW.findall(text):
            put(*drawn(command))
        put(page, filled(text, quick).encode())
    for path in stale:
        print(f"{path} {'is stale; run `make figures`' if check else 'made again'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
