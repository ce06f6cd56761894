"""Prints notes for a release from the subjects of its commits, in Markdown.

    python3 scripts/release_notes.py v0.1.0..HEAD

A commit stands under the heading to which most of the files belong that it changes. Merges are left out,
and so are commits that change nothing but tests and checks.
"""

import subprocess
import sys
from collections import Counter

# Headings with the beginnings of the paths that belong to them. The first that fits counts.
HEADINGS = {
    "Playing in a browser": ["web/"],
    "The native client": ["crates/apps/client/", "crates/platform/window/"],
    "Congestion control": ["crates/core/", "docs/algorithms/", "docs/embed/"],
    "Pictures and sound": ["crates/media/", "crates/platform/audio/"],
    "Hosting": [
        "crates/apps/host/",
        "crates/apps/settings/",
        "crates/platform/",
        "crates/session/",
        "crates/apps/cli/src/serve/",
        "crates/apps/cli/src/doctor/",
        "docs/use/host.md",
    ],
    "Packages": ["packaging/", "scripts/dist/", "crates/apps/cli/src/service/"],
    "Simulation, links and lab": [
        "crates/network/",
        "crates/results/",
        "crates/apps/link/",
        "crates/apps/cli/",
        "experiments/",
        "lab/",
        "scenarios/",
        "traces/",
        "docs/results/",
    ],
}
OTHER = "Documentation and the rest"
# Parts of paths of what nobody notices who uses a release.
UNNOTICED = ("/tests/", "/tests.rs", ".test.ts", ".ci/", "/checks/", "fuzz/", "/e2e/")


def heading(paths: list[str]) -> str | None:
    """The heading of a commit that changes `paths`; None for tests and checks alone."""
    noticed = [path for path in paths if not any(part in path for part in UNNOTICED)]
    if not noticed:
        return None
    votes = Counter(of(path) for path in noticed)
    votes.pop(OTHER, None)
    return votes.most_common(1)[0][0] if votes else OTHER


def of(path: str) -> str:
    """The heading that a path belongs to."""
    for name, beginnings in HEADINGS.items():
        if path.startswith(tuple(beginnings)):
            return name
    return OTHER


def notes(log: str) -> str:
    """The notes for what `git log --name-only` prints, each commit after a NUL."""
    found: dict[str, list[str]] = {}
    for commit in log.split("\0")[1:]:
        subject, *paths = [line for line in commit.splitlines() if line]
        name = heading(paths)
        if name is not None:
            found.setdefault(name, []).append(subject)
    chapters = []
    for name in [*HEADINGS, OTHER]:
        if name in found:
            lines = "".join(f"- {subject}\n" for subject in found[name])
            chapters.append(f"## {name}\n\n{lines}")
    return "\n".join(chapters)


def main() -> None:
    if len(sys.argv) != 2 or ".." not in sys.argv[1]:
        sys.exit("usage: python3 scripts/release_notes.py FROM..TO")
    command = ["git", "log", "--no-merges", "--name-only", "--format=%x00%s"]
    done = subprocess.run([*command, sys.argv[1]], check=True, stdout=-1, text=True)
    print(notes(done.stdout), end="")


if __name__ == "__main__":
    main()
