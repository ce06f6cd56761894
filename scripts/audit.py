"""Looks for known vulnerabilities in the crates and packages that the lock files name.

    audit.py                       compares the lock files with scripts/advisories.json, and asks npm's registry
    audit.py --refresh [FOLDER]    makes scripts/advisories.json from RustSec's database: the checkout in FOLDER, or a
                                   clone of https://github.com/RustSec/advisory-db

`make check` compares. advisories.json has what RustSec's database says about the crates of Cargo.lock and
fuzz/Cargo.lock; it is a copy, so that the same commit always gives the same answer, and says of which day it is.
Where a registry does not answer questions about advisories, that is printed, and the page's packages are not
checked. The exit status is 1 if a locked crate has a vulnerability that ACCEPTED does not name.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "scripts/advisories.json"
LOCKS = ["Cargo.lock", "fuzz/Cargo.lock"]
DATABASE = "https://github.com/RustSec/advisory-db"
# Seconds that npm's registry may take.
PATIENCE = 60
# Advisories that are known and whose crates stay, with the reason.
ACCEPTED: dict[str, str] = {}

# A version as it is compared: three numbers, and whether it is a release rather than before one.
Version = tuple[int, int, int, bool, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--refresh", nargs="?", const="", metavar="FOLDER")
    options = parser.parse_args()
    if options.refresh is not None:
        refresh(options.refresh)
    found = vulnerable()
    sys.exit(1 if found + pages() else 0)


def locked() -> dict[str, set[str]]:
    """The versions of each crate from a registry, by its name."""
    versions: dict[str, set[str]] = {}
    for lock in LOCKS:
        for crate in tomllib.loads((ROOT / lock).read_text())["package"]:
            if "checksum" in crate:
                versions.setdefault(crate["name"], set()).add(crate["version"])
    return versions


def vulnerable() -> int:
    """Prints which advisories are about locked versions. Gives the number of vulnerabilities."""
    copy, versions = json.loads(COPY.read_text()), locked()
    unknown = sorted(versions.keys() - set(copy["crates"]))
    if unknown:
        print(
            f"scripts/advisories.json does not know of {', '.join(unknown)}: --refresh"
        )
    count = len(unknown)
    for advisory in copy["advisories"]:
        fine = advisory["patched"] + advisory["unaffected"]
        for version in sorted(versions.get(advisory["package"], ())):
            if any(matches(version, it) for it in fine):
                continue
            said = f"{advisory['id']}, {advisory['package']} {version}: {advisory['title']}"
            kind, why = advisory["informational"], ACCEPTED.get(advisory["id"])
            if kind in ("unmaintained", "notice") or why:
                print(f"note: {said} ({why or kind})")
            else:
                print(f"vulnerable: {said}")
                count += 1
    total = sum(len(it) for it in versions.values())
    print(
        f"{total} locked versions of crates, advisories until {copy['until']}: {count} found"
    )
    return count


def pages() -> int:
    """Asks npm's registry about what the page has at run time. Gives the number of vulnerabilities."""
    command = ["npm", "--prefix", str(ROOT / "web"), "audit", "--omit=dev", "--json"]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=PATIENCE
        )
        told = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        told = {}
    if "metadata" not in told:
        print("npm's registry does not answer: the page's packages are not checked")
        return 0
    count = told["metadata"]["vulnerabilities"]["total"]
    print(f"the page's packages at run time: {count} found")
    for name, entry in told.get("vulnerabilities", {}).items():
        print(f"vulnerable: {name} ({entry['severity']})")
    return count


def matches(version: str, requirement: str) -> bool:
    """Whether a version is within a range as Cargo writes it.

    >>> [matches(it, ">= 1.2, < 2") for it in ("1.1.9", "1.2.0-rc.1", "1.2.0", "2.0.0")]
    [False, False, True, False]
    >>> [matches("0.2.9", it) for it in ("^0.2.3", "^0.3", "~0.2.3", "0.2", "= 0.2", "= 0.2.8")]
    [True, False, True, True, True, False]
    >>> [matches("0.0.4", it) for it in ("^0.0.3", "^0.0.4", "> 0.0.3", "<= 0.0.3")]
    [False, True, True, False]
    """
    own = parsed(version)
    for part in requirement.split(","):
        operator, text = re.fullmatch(
            r"\s*(>=|<=|>|<|=|\^|~)?\s*(\S+)\s*", part
        ).groups()
        other = parsed(text)
        given = text.split("-")[0].split("+")[0].count(".") + 1
        holds = {
            ">=": own >= other,
            "<=": own <= other,
            ">": own > other,
            "<": own < other,
            "=": own[:given] == other[:given] and (given < 3 or own == other),
            "~": own >= other and own[: min(given, 2)] == other[: min(given, 2)],
        }
        # The first number that is not zero stays.
        first = next((n for n in range(3) if other[n]), given - 1)
        holds["^"] = holds[None] = (
            own >= other and own[: first + 1] == other[: first + 1]
        )
        if not holds[operator]:
            return False
    return True


def parsed(text: str) -> Version:
    number, _, before = text.partition("+")[0].partition("-")
    numbers = [int(it) for it in number.split(".")] + [0, 0]
    return (*numbers[:3], not before, before)


def refresh(folder: str) -> None:
    """Writes the copy from a checkout of the database."""
    with tempfile.TemporaryDirectory() as temporary:
        if not folder:
            folder = temporary
            clone = ["git", "clone", "--quiet", "--depth", "1", DATABASE, folder]
            subprocess.run(clone, check=True)
        names, advisories, until = sorted(locked()), [], ""
        for path in Path(folder).glob("crates/*/RUSTSEC-*.md"):
            front, _, text = path.read_text().removeprefix("```toml\n").partition("```")
            told = tomllib.loads(front)
            entry, versions = told["advisory"], told.get("versions", {})
            until = max(until, str(entry["date"]))
            if entry["package"] not in names or "withdrawn" in entry:
                continue
            title = re.search(r"^# (.*)$", text, re.MULTILINE)
            advisories.append(
                {
                    "id": entry["id"],
                    "package": entry["package"],
                    "title": title.group(1) if title else "",
                    "informational": entry.get("informational"),
                    "patched": versions.get("patched", []),
                    "unaffected": versions.get("unaffected", []),
                }
            )
        advisories.sort(key=lambda it: (it["package"], it["id"]))
    write({"until": until, "crates": names, "advisories": advisories})


def write(copy: dict) -> None:
    COPY.write_text(json.dumps(copy, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
