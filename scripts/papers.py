"""Fills docs/embed/feedback.md, docs/how-it-works/loss.md and docs/results again.

In docs/results/papers.md, `<!-- claims: SUITE -->` is followed by the claims of that suite and what
came of them, up to `<!-- end -->`. Figures and numbers are copied from the suite's results.
In docs/embed/feedback.md, `<!-- feedback: CASE -->` is followed by the table of that case, and in
docs/how-it-works/loss.md `<!-- loss: CONTROLLER LINK DEADLINE -->` by the table of those. In
docs/results/coexistence.md `<!-- coexistence: CASE -->` is followed by what the page of that suite
has of the case, and `<!-- coexistence: conditions -->` by its seeds and controllers. Of the suites
in RESULTS the whole page becomes a document. With names of suites as arguments, only these are run.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIMOSA = Path(os.environ.get("MIMOSA", ROOT / "target" / "play" / "mimosa")).absolute()
PAGE = ROOT / "docs" / "results" / "papers.md"
FEEDBACK = ROOT / "docs" / "embed" / "feedback.md"
LOSS = ROOT / "docs" / "how-it-works" / "loss.md"
COEXISTENCE = ROOT / "docs" / "results" / "coexistence.md"
FIGURES = ROOT / "docs" / "figures" / "papers"
DOCUMENTS = ROOT / "docs" / "results"
RESULTS = ["scoreboard", "robust", "last-mile", "rfc8867", "rfc8869"]
CLAIMS = re.compile(r"(<!-- claims: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
CASES = re.compile(r"(<!-- feedback: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
LOSSES = re.compile(
    r"(<!-- loss: (\S+) (\S+) (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL
)
PAIRS = re.compile(r"(<!-- coexistence: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
ROUND_TRIPS = [10, 30, 60]
PROTECTIONS = ["retransmission", "fec", "joint"]
TABLE = re.compile(r"A dash stands.*?:\n\n((?:\|.*\n)+)")


def run(suite: str, results: Path) -> str:
    """Runs a suite and gives its page."""
    words = [str(MIMOSA), "lab", "run", suite, "--output", str(results)]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    return (results / "page.md").read_text(encoding="utf-8")


def table(suite: str, results: Path) -> str:
    """Runs a suite, copies its figures and numbers, and gives its table of claims."""
    page = run(suite, results)
    shutil.copy(results / "claims.json", FIGURES / f"{suite}.json")
    for figure in sorted((results / "figures").glob("*.svg")):
        shutil.copy(figure, FIGURES / f"{suite}-{figure.name}")
    found = TABLE.search(page)
    if not found:
        raise SystemExit(f"{suite}: its page has no claims")
    return found.group(1)


def document(suite: str, results: Path) -> None:
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
    text = PAGE.read_text(encoding="utf-8")
    papers = [suite for _, suite, _, _ in CLAIMS.findall(text)]
    pages = {
        "feedback": feedback,
        "loss-recovery": loss,
        "coexistence": coexistence,
    }
    known = [*papers, *pages, *RESULTS]
    wanted = sys.argv[1:] or known
    if unknown := [name for name in wanted if name not in known]:
        raise SystemExit(f"{unknown[0]}: no document shows it; name {', '.join(known)}")
    FIGURES.mkdir(parents=True, exist_ok=True)
    DOCUMENTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:

        def again(match: re.Match[str]) -> str:
            suite = match.group(2)
            if suite not in wanted:
                return match.group(0)
            rows = table(suite, Path(folder) / suite)
            return f"{match.group(1)}\n{rows}\n{match.group(4)}"

        PAGE.write_text(CLAIMS.sub(again, text), encoding="utf-8")
        for suite, fill in pages.items():
            if suite in wanted:
                fill(Path(folder) / suite)
        for suite in RESULTS:
            if suite in wanted:
                document(suite, Path(folder) / suite)


if __name__ == "__main__":
    main()
