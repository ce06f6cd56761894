"""What the program of `make dist` contains: a list in SPDX 2.3, and all notices of it.

`cargo metadata` names the crates with these features on this system; Cargo.lock has their
checksums. The page has no dependencies at run time (web/package.json), and what a crate builds from C is
listed as that crate.
"""

import datetime
import hashlib
import json
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = "x86_64-unknown-linux-gnu"
# The features of mimosa-cli that the packages have.
FEATURES = ["serve", "window", "openh264", "svt-av1", "x264", "gstreamer"]
# Names of files with a licence or a notice, in capitals.
NOTICES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS", "UNLICENSE")
# Folders of a crate in which such files are looked for: those of C libraries lie deeper.
DEEPEST = 3


def crates() -> list[dict]:
    """The crates in the program, by name and version, as `cargo metadata` describes them."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    command += ["--filter-platform", TARGET, "--no-default-features"]
    command += ["--features", ",".join(FEATURES)]
    command += ["--manifest-path", str(ROOT / "crates/apps/cli/Cargo.toml")]
    metadata = json.loads(subprocess.run(command, check=True, stdout=-1).stdout)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found, left = set(), [metadata["resolve"]["root"]]
    while left:
        crate = left.pop()
        if crate in found:
            continue
        found.add(crate)
        for dependency in nodes[crate]["deps"]:
            # None is the program itself; "build" and "dev" are not in it.
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                left.append(dependency["pkg"])
    listed = [crate for crate in metadata["packages"] if crate["id"] in found]
    return sorted(listed, key=lambda crate: (crate["name"], crate["version"]))


def checksums() -> dict[tuple[str, str], str]:
    """The SHA-256 of each crate's archive, by name and version."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    return {
        (crate["name"], crate["version"]): crate["checksum"]
        for crate in lock["package"]
        if "checksum" in crate
    }


def spdx(listed: list[dict], version: str, epoch: int) -> str:
    """The list as JSON."""
    sums = checksums()
    packages = []
    for crate in listed:
        name, number = crate["name"], crate["version"]
        package = {
            "SPDXID": f"SPDXRef-{name.replace('_', '-')}-{number.replace('+', '-')}",
            "name": name,
            "versionInfo": number,
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION",
            # Older crates write `/` where SPDX says OR.
            "licenseDeclared": crate["license"].replace("/", " OR "),
            "copyrightText": "NOASSERTION",
        }
        if (name, number) in sums:
            crate_url = f"https://crates.io/api/v1/crates/{name}/{number}/download"
            package["downloadLocation"] = crate_url
            checksum = {"algorithm": "SHA256", "checksumValue": sums[name, number]}
            package["checksums"] = [checksum]
            package["externalRefs"] = [
                {
                    "referenceCategory": "PACKAGE-MANAGER",
                    "referenceType": "purl",
                    "referenceLocator": f"pkg:cargo/{name}@{number}",
                }
            ]
        packages.append(package)
    created = datetime.datetime.fromtimestamp(epoch, datetime.UTC)
    program = next(p for p in packages if p["name"] == "mimosa-cli")["SPDXID"]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"mimosa-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/mimosa-{version}",
        "creationInfo": {
            "created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: scripts/dist/sbom.py"],
        },
        "packages": packages,
        "relationships": [
            {
                "spdxElementId": "SPDXRef-DOCUMENT",
                "relationshipType": "DESCRIBES",
                "relatedSpdxElement": program,
            }
        ]
        + [
            {
                "spdxElementId": program,
                "relationshipType": "CONTAINS",
                "relatedSpdxElement": package["SPDXID"],
            }
            for package in packages
            if package["SPDXID"] != program
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def notices(listed: list[dict]) -> str:
    """The texts of all licences and notices, each once, with the crates that have it."""
    texts: dict[str, tuple[str, list[str]]] = {}
    for crate in listed:
        if crate["source"] is None:
            continue
        folder = Path(crate["manifest_path"]).parent
        for path in sorted(folder.rglob("*")):
            parts = path.relative_to(folder).parts
            named = path.name.upper().startswith(NOTICES) and path.is_file()
            if not named or len(parts) > DEEPEST or path.suffix in (".rs", ".py", ".h"):
                continue
            text = path.read_text(errors="replace").strip()
            key = hashlib.sha256(text.encode()).hexdigest()
            users = texts.setdefault(key, (text, []))[1]
            users.append(f"{crate['name']} {crate['version']}: {'/'.join(parts)}")
    chapters = ["\n".join([*users, "", text]) for text, users in texts.values()]
    return ("\n" + "-" * 72 + "\n").join(chapters) + "\n"
