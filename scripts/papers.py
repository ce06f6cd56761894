"""Fills docs/embed/feedback.md, docs/how-it-works/loss.md and docs/results again.

Of the suites of the papers' claims, figures and verdicts are copied to docs/figures/papers, from which
claims.py makes docs/results/papers.md and the pages in docs/results/papers.
In docs/embed/feedback.md, `<!-- feedback: CASE -->` is followed by the table of that case, and in
docs/how-it-works/loss.md `<!-- loss: CONTROLLER LINK DEADLINE -->` by the table of those. In
docs/results/coexistence.md `<!-- coexistence: CASE -->` is followed by what the page of that suite
has of the case, and `<!-- coexistence: conditions -->` by its seeds and controllers. Of the suites
in RESULTS the whole page becomes a document. With names of suites as arguments, only these are run;
`papers` names those of the papers' claims.

What a suite gave is kept in target/papers, and the suite is not run again while that is newer than the
program and the suite. A run that was stopped goes on where it was.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import claims

ROOT = Path(__file__).resolve().parent.parent
MIMOSA = Path(os.environ.get("MIMOSA", ROOT / "target" / "play" / "mimosa")).absolute()
KEPT = ROOT / "target" / "papers"
FEEDBACK = ROOT / "docs" / "embed" / "feedback.md"
LOSS = ROOT / "docs" / "how-it-works" / "loss.md"
COEXISTENCE = ROOT / "docs" / "results" / "coexistence.md"
FIGURES = ROOT / "docs" / "figures" / "papers"
DOCUMENTS = ROOT / "docs" / "results"
RESULTS = ["scoreboard", "robust", "last-mile", "rfc8867", "rfc8869"]
CASES = re.compile(r"(<!-- feedback: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
LOSSES = re.compile(
    r"(<!-- loss: (\S+) (\S+) (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL
)
PAIRS = re.compile(r"(<!-- coexistence: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
WITH_TRACES = "ace-zhuge"
ROUND_TRIPS = [10, 30, 60]
PROTECTIONS = ["retransmission", "fec", "joint"]


def is_new(suite: Path, page: Path) -> bool:
    """Whether a page is newer than the program and the suite's files."""
    if not page.exists():
        return False
    files = [MIMOSA, *suite.glob("*")]
    return all(file.stat().st_mtime < page.stat().st_mtime for file in files)


def run(suite: str, results: Path, folder: Path | None = None) -> str:
    """Runs a suite, unless its results are there, and gives its page."""
    page = results / "page.md"
    folder = folder or ROOT / "lab" / suite
    if not is_new(folder, page):
        words = [str(MIMOSA), "lab", "run", str(folder), "--output", str(results)]
        subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    return page.read_text(encoding="utf-8")


def paper(suite: str, results: Path) -> None:
    """Runs a suite and copies its figures and verdicts."""
    run(suite, results)
    keep(suite, results)


def keep(suite: str, results: Path) -> None:
    """Copies the figures and verdicts of a suite."""
    shutil.copy(results / "claims.json", FIGURES / f"{suite}.json")
    for figure in sorted((results / "figures").glob("*.svg")):
        shutil.copy(figure, FIGURES / f"{suite}-{figure.name}")


def generated(suite: str, script: Path, results: Path) -> None:
    """Makes the verdicts of a suite that a program makes, with the recordings in TRACES if it needs them."""
    if suite != WITH_TRACES:
        words = [str(script), str(FIGURES / f"{suite}.json"), str(KEPT)]
        subprocess.run([sys.executable, *words], check=True)
    elif traces := os.environ.get("TRACES"):
        folder = results / "suite"
        index = folder / "suite.toml"
        is_made = is_new(Path(traces), index)
        if not is_made or script.stat().st_mtime > index.stat().st_mtime:
            subprocess.run(
                [sys.executable, str(script), traces, str(folder)], check=True
            )
        run(suite, results, folder)
        keep(suite, results)
    else:
        print(f"{suite}: TRACES names no folder of recordings; its verdicts stay")


def make_document(suite: str, results: Path) -> None:
    """Runs a suite and makes a document of its page, its figures and its numbers."""
    page = run(suite, results)
    note = f"`mimosa lab run {suite}`; the numbers are in [{suite}.json]({suite}.json)."
    title, rest = page.split("\n", 1)
    page = f"{title}\n\n{note}\n{rest}".replace("](figures/", f"]({suite}/")
    (DOCUMENTS / f"{suite}.md").write_text(page, encoding="utf-8")
    shutil.copy(results / "means.json", DOCUMENTS / f"{suite}.json")
    shutil.rmtree(DOCUMENTS / suite, ignore_errors=True)
    shutil.copytree(results / "figures", DOCUMENTS / suite)


def feedback(results: Path) -> None:
    """Runs the suite of reports and fills the tables about them."""
    run("feedback", results)
    means = json.loads((results / "means.json").read_text(encoding="utf-8"))

    def cell(figures: dict[str, float]) -> str:
        used, mean, late = (
            figures[name] for name in ("used", "frame mean", "frame p95")
        )
        return f"{used * 100:.1f}; {mean:.0f}, {late:.0f}"

    def again(match: re.Match[str]) -> str:
        own = [row for row in means if row["case"] == match.group(2)]
        variants = list(dict.fromkeys(row["variant"] for row in own))
        rows = [f"| | {' | '.join(variants)} |", "|---" * (len(variants) + 1) + "|"]
        for name in sorted({row["controller"] for row in own}):
            cells = {
                r["variant"]: cell(r["figures"]) for r in own if r["controller"] == name
            }
            rows.append(
                f"| `{name}` | " + " | ".join(cells[v] for v in variants) + " |"
            )
        table = "\n".join(rows)
        return f"{match.group(1)}\n{table}\n\n{match.group(4)}"

    text = FEEDBACK.read_text(encoding="utf-8")
    FEEDBACK.write_text(CASES.sub(again, text), encoding="utf-8")


def loss(results: Path) -> None:
    """Runs the suite of losses and fills the tables about them."""
    run("loss-recovery", results)
    means = json.loads((results / "means.json").read_text(encoding="utf-8"))
    cells = {}
    for row in means:
        figures = row["figures"]
        late, overhead = figures["past deadline"] * 100, figures["overhead"] * 100
        key = (row["controller"], row["case"], row["variant"])
        cells[key] = f"{late:.2f}, {overhead:.1f}"
    kinds = list(dict.fromkeys(row["variant"].split(", ")[0] for row in means))

    def again(match: re.Match[str]) -> str:
        head, controller, link, deadline, _, end = match.groups()
        columns = [(trip, name) for trip in ROUND_TRIPS for name in PROTECTIONS]
        titles = [f"{trip} ms, {name}" for trip, name in columns]
        rows = ["| lost | " + " | ".join(titles) + " |", "|---" * 10 + "|"]
        for kind in kinds:
            own = [
                cells[controller, f"{link}-{trip}-{deadline}", f"{kind}, {name}"]
                for trip, name in columns
            ]
            rows.append(f"| {kind} | " + " | ".join(own) + " |")
        return head + "\n" + "\n".join(rows) + "\n\n" + end

    text = LOSS.read_text(encoding="utf-8")
    LOSS.write_text(LOSSES.sub(again, text), encoding="utf-8")


def coexistence(results: Path) -> None:
    """Runs the suite of pairs and fills the tables about them."""
    page = run("coexistence", results)
    # Title, conditions and purpose are the first three paragraphs.
    chapters = {"conditions": page.split("\n\n")[1]}
    chapter = re.compile(r"^## (\S+): .*\n\n.*\n((?:(?!## ).*\n)*)", re.MULTILINE)
    chapters |= dict(chapter.findall(page))

    def again(match: re.Match[str]) -> str:
        text = chapters[match.group(2)].strip().replace("](figures/", "](coexistence/")
        return f"{match.group(1)}\n{text}\n\n{match.group(4)}"

    text = COEXISTENCE.read_text(encoding="utf-8")
    COEXISTENCE.write_text(PAIRS.sub(again, text), encoding="utf-8")
    means = json.loads((results / "means.json").read_text(encoding="utf-8"))
    lines = ",\n".join(json.dumps(row) for row in means)
    numbers = DOCUMENTS / "coexistence.json"
    numbers.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    shutil.rmtree(DOCUMENTS / "coexistence", ignore_errors=True)
    shutil.copytree(results / "figures", DOCUMENTS / "coexistence")


def main() -> None:
    """Runs the suites that are named, or every one that the documents show."""
    documents = [claims.Document(name) for name in claims.DOCUMENTS]
    scripts = {
        suite: ROOT / script
        for document in documents
        for suite, script in document.generated.items()
    }
    papers = [suite for document in documents for suite in document.suites]
    pages = {
        "feedback": feedback,
        "loss-recovery": loss,
        "coexistence": coexistence,
    }
    known = [*papers, *pages, *RESULTS]
    wanted = sys.argv[1:] or known
    if "papers" in wanted:
        wanted = [*papers, *wanted]
        wanted.remove("papers")
    if unknown := [name for name in wanted if name not in known]:
        raise SystemExit(f"{unknown[0]}: no document shows it; name {', '.join(known)}")
    FIGURES.mkdir(parents=True, exist_ok=True)
    DOCUMENTS.mkdir(parents=True, exist_ok=True)
    for suite in dict.fromkeys(wanted):
        results = KEPT / suite
        if suite in pages:
            pages[suite](results)
        elif suite in RESULTS:
            make_document(suite, results)
        elif suite in scripts:
            generated(suite, scripts[suite], results)
        else:
            paper(suite, results)
    claims.main()


if __name__ == "__main__":
    main()
