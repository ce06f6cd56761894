"""Makes docs/results/papers.md and the pages in docs/results/papers from the papers' claims.

The data: `lab/claims/DOCUMENT.toml` has what no suite carries and the causes of what does not hold;
`docs/figures/papers/SUITE.json` has the verdicts on a suite's claims, as `scripts/papers.sh` makes them.
In a document's page, `<!-- counts -->` is followed by the verdicts' numbers, `<!-- claims: SUITE -->` by
the claims of that suite, `<!-- experiments: SUITE -->` by those that repeat one under a condition and show
a cause (their text is the claim's, ", if" and the condition), and `<!-- items -->` by the rows without a suite, each up to `<!-- end -->`; in
papers.md `<!-- summary -->` by a row for each document. With `--check` nothing is written: the data are
checked, and pages that differ from what they make are named.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAB = ROOT / "lab"
PAGES = ROOT / "docs" / "results" / "papers"
SUMMARY = ROOT / "docs" / "results" / "papers.md"
VERDICTS = ROOT / "docs" / "figures" / "papers"
DOCUMENTS = ["pudica", "pudica-slides", "c3g", "ace", "htb-l4s"]
# The claims of a suite whose source begins so compare with what the document does not have, or show a
# cause; they are on the page and not in the counts.
OURS = "this suite"
IF = ", if "
NO_CAUSE = "does not hold, cause not shown"
STATES = ["holds", "does not hold", NO_CAUSE, "cannot be had", "not done"]
BLOCK = re.compile(r"(<!-- (\w+)(?:: (\S+))? -->\n)(.*?)(<!-- end -->)", re.DOTALL)

Claim = dict


class Document:
    """A document's rows."""

    def __init__(self, name: str) -> None:
        self.name = name
        text = (LAB / "claims" / f"{name}.toml").read_text(encoding="utf-8")
        data = tomllib.loads(text)
        self.title = data["title"]
        self.suites = data.get("suites", [])
        self.generated = data.get("generated", {})
        self.networks = data.get("networks", {})
        self.items = data.get("item", [])
        self.causes = data.get("cause", [])
        self.used: set[int] = set()

    def cause(self, suite: str, claim: Claim) -> dict | None:
        """The cause that is shown for a claim that does not hold."""
        for index, cause in enumerate(self.causes):
            of = cause.get("of", "")
            fits = claim["claim"].startswith(cause.get("claim", ""))
            if cause["suite"] == suite and fits and claim["of"].startswith(of):
                self.used.add(index)
                return cause
        return None

    def rows(self, suite: str) -> list[tuple[Claim, Claim | None, str, str]]:
        """The claims of a suite: on the ideal network, on the paper's own, verdict and cause."""
        claims = verdicts(suite)
        pairs = self.networks.get(suite, {})
        own = {key(claim, {}): claim for claim in claims}
        partners = [own.get(key(claim, pairs)) for claim in claims]
        found = []
        for claim, partner in zip(claims, partners, strict=True):
            found.append((claim, None if partner is claim else partner))
        taken = [id(partner) for _, partner in found if partner is not None]
        return [
            (claim, partner, *self.state(suite, claim, partner))
            for claim, partner in found
            if id(claim) not in taken
        ]

    def state(self, suite: str, claim: Claim, partner: Claim | None) -> tuple[str, str]:
        """The verdict on a row, and what shows the cause."""
        last = partner or claim
        if last["holds"] is None:
            return "not done", ""
        if last["holds"]:
            return "holds", ""
        if partner is not None and claim["holds"]:
            return "does not hold", "The claim holds on the ideal network."
        text = claim["claim"] + IF
        # A claim has a row for each of those that it compares with; a condition is about one of them.
        conditions = dict.fromkeys(
            other["claim"].removeprefix(text)
            for other in verdicts(suite)
            if is_experiment(other) and other["claim"].startswith(text)
            if other["criterion"].startswith(claim["criterion"])
            if other["holds"]
        )
        if conditions:
            return "does not hold", f"It holds if {', and if '.join(conditions)}."
        cause = self.cause(suite, last) or self.cause(suite, claim)
        if cause is None:
            return NO_CAUSE, ""
        return "does not hold", f"{cause['says']} {place(cause['shown_by'])}"

    def verdict(self, item: dict) -> str:
        """The verdict of a row without a suite; one that names claims has theirs."""
        if "same_as" not in item:
            return item["verdict"]
        suite, _, text = item["same_as"].partition(": ")
        found = [claim for claim in verdicts(suite) if claim["claim"].startswith(text)]
        own = [claim for claim in found if not is_experiment(claim)]
        failing = [claim["claim"] + IF for claim in own if not claim["holds"]]
        if own and not failing:
            return "holds"
        conditions = [
            claim["claim"] for claim in found if is_experiment(claim) and claim["holds"]
        ]
        shown = all(
            any(condition.startswith(text) for condition in conditions)
            for text in failing
        )
        return "does not hold" if own and shown else NO_CAUSE

    def counts(self) -> dict[str, int]:
        """How many rows have each verdict."""
        counts = dict.fromkeys(STATES, 0)
        for item in self.items:
            counts[self.verdict(item)] += 1
        for suite in self.suites:
            for claim, _, state, _ in self.rows(suite):
                if not claim["source"].startswith(OURS):
                    counts[state] += 1
        return counts


def is_experiment(claim: Claim) -> bool:
    """Whether a claim repeats another one under a condition."""
    return claim["source"].startswith(OURS) and IF in claim["claim"]


def verdicts(suite: str) -> list[Claim]:
    """The verdicts on a suite's claims."""
    file = VERDICTS / f"{suite}.json"
    if not file.exists():
        raise SystemExit(f"{suite}: no {file.name}; run scripts/papers.sh {suite}")
    return json.loads(file.read_text(encoding="utf-8"))


def key(claim: Claim, renamed: dict[str, str]) -> tuple[str, str, str]:
    """What a claim is about, with other names of cases."""

    def moved(text: str) -> str:
        for name, other in renamed.items():
            text = re.sub(rf"(?<![\w-]){name}(?![\w-])", other, text)
        return text

    return claim["claim"], moved(claim["of"]), moved(claim["criterion"])


def place(shown_by: str) -> str:
    """A reference to what shows a row: a file, or claims of a suite."""
    suite, _, of = shown_by.partition(": ")
    if of:
        return f"(suite `{suite}`: {of})"
    path, _, anchor = shown_by.partition("#")
    anchor = f"#{anchor}" if anchor else ""
    return f"([{Path(path).name}](../../../{path}{anchor}))".replace(
        "../../../docs/results/", "../"
    ).replace("../../../docs/", "../../")


def number(claim: Claim, value: float | None) -> str:
    """A number with its unit, or a dash."""
    if value is None:
        return "-"
    return f"{value:.{claim['digits']}f} {claim['unit']}".strip()


def here(claim: Claim | None) -> str:
    """The number, the interval of the seeds, the other side's number and how often it held."""
    if claim is None:
        return "-"
    text = number(claim, claim["here"])
    if claim["low"] is not None and claim["seeds"] > 1:
        low, high = (number(claim, claim[end]) for end in ("low", "high"))
        text += f" ({low.removesuffix(claim['unit']).strip()} to {high})"
    if claim["other"] is not None:
        text += f"; the other {number(claim, claim['other'])}"
    return f"{text}; {claim['seeds_held']} of {claim['seeds']}"


def table(headers: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(headers)} |", "|---" * len(headers) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def claims_table(document: Document, suite: str, are_experiments: bool) -> str:
    """The rows of a suite."""
    rows = document.rows(suite)
    found = [row for row in rows if is_experiment(row[0]) == are_experiments]
    has_two = any(partner is not None for _, partner, _, _ in found)
    headers = ["what it says", "where", "measured", "paper", "here"]
    headers += ["on the paper's network"] if has_two else []
    headers += ["holds when", "verdict", "shown by"]
    rows = []
    for claim, partner, state, shown in found:
        row = [claim["claim"], claim["source"], f"{claim['quantity']} ({claim['of']})"]
        row += [number(claim, claim["paper"]), here(claim)]
        row += [here(partner)] if has_two else []
        rows.append([*row, claim["criterion"], state, shown])
    return table(headers, rows)


def items_table(document: Document) -> str:
    """The rows without a suite."""
    headers = ["item", "what it says", "here", "verdict", "shown by"]
    rows = []
    for item in document.items:
        shown = item.get("shown_by", "")
        shown = place(shown)[1:-1] if "/" in shown else shown
        row = [
            item["item"],
            item["says"],
            item.get("here", "-"),
            document.verdict(item),
        ]
        rows.append([*row, shown])
    return table(headers, rows)


def counts_table(documents: list[Document]) -> str:
    """A row for each document with the numbers of rows by verdict."""
    rows = []
    for document in documents:
        counts = document.counts()
        link = f"[{document.title}](papers/{document.name}.md)"
        numbers = [str(counts[state]) for state in STATES]
        rows.append([link, str(sum(counts.values())), *numbers])
    return table(["document", "rows", *STATES], rows)


def filled(path: Path, documents: list[Document]) -> str:
    """The page with what its marks are followed by."""
    own = [d for d in documents if path == PAGES / f"{d.name}.md"]

    def again(match: re.Match[str]) -> str:
        head, kind, name, _, end = match.groups()
        if kind == "summary":
            body = counts_table(documents)
        elif kind == "counts":
            body = counts_table(own).replace("](papers/", "](")
        elif kind == "claims":
            body = claims_table(own[0], name, are_experiments=False)
        elif kind == "experiments":
            body = claims_table(own[0], name, are_experiments=True)
        elif kind == "items":
            body = items_table(own[0])
        else:
            raise SystemExit(f"{path.name}: there is no block `{kind}`")
        return f"{head}\n{body}\n\n{end}"

    return BLOCK.sub(again, path.read_text(encoding="utf-8"))


def entries(suite: str) -> list[str]:
    """The texts of a suite's claims, one for each verdict."""
    index = tomllib.loads((LAB / suite / "suite.toml").read_text(encoding="utf-8"))
    texts = []
    for claim in index.get("claim", []):
        others = len(claim.get("than", {}).get("controllers", [])) or 1
        texts += [claim["text"]] * (len(claim["controllers"]) * others)
    return texts


def faults(documents: list[Document]) -> list[str]:
    """What is wrong in the data."""
    wrong = []
    for index in sorted(LAB.glob("*/suite.toml")):
        suite = index.parent.name
        is_figure = tomllib.loads(index.read_text(encoding="utf-8"))["page"] == "figure"
        owners = [document.name for document in documents if suite in document.suites]
        if is_figure and len(owners) != 1:
            wrong.append(f"suite {suite} is in {owners}; name it in one of lab/claims")
    for document in documents:
        wrong += faults_of(document)
    return wrong


def faults_of(document: Document) -> list[str]:
    """What is wrong in the data of one document."""
    wrong = []
    page = (PAGES / f"{document.name}.md").read_text(encoding="utf-8")
    for suite in document.suites:
        if f"<!-- claims: {suite} -->" not in page:
            wrong.append(f"{document.name}.md has no `<!-- claims: {suite} -->`")
        mark = f"<!-- experiments: {suite} -->"
        if any(map(is_experiment, verdicts(suite))) and mark not in page:
            wrong.append(f"{document.name}.md has no `{mark}`")
        there = [claim["claim"] for claim in verdicts(suite)]
        if suite in document.generated:
            if not (ROOT / document.generated[suite]).exists():
                wrong.append(
                    f"{suite}: {document.generated[suite]} is not in the project"
                )
        elif there != entries(suite):
            wrong.append(
                f"{suite}.json is not of lab/{suite}; run scripts/papers.sh {suite}"
            )
    for item in document.items:
        if document.verdict(item) not in STATES:
            wrong.append(f"{document.name}: {item['item']}: verdict is one of {STATES}")
        if item.get("verdict") in ("holds", "does not hold") and not item.get(
            "shown_by"
        ):
            wrong.append(f"{document.name}: {item['item']}: `shown_by` is missing")
        wrong += unresolved(
            item.get("shown_by", ""), f"{document.name}: {item['item']}"
        )
    for index, cause in enumerate(document.causes):
        wrong += unresolved(cause["shown_by"], f"{document.name}: {cause['says']}")
        if document.counts() and index not in document.used:
            wrong.append(
                f"{document.name}: no claim of {cause['suite']} fails as the cause "
                f"says: {cause['says']}"
            )
    if "likely" in page.lower():
        wrong.append(f"{document.name}.md says `likely`; name an experiment")
    return wrong


def unresolved(shown_by: str, whose: str) -> list[str]:
    """What is wrong in a reference: a path that is not there, or claims that do not hold."""
    suite, _, of = shown_by.partition(": ")
    if of:
        found = [claim for claim in verdicts(suite) if claim["of"].startswith(of)]
        if not found or not all(claim["holds"] for claim in found):
            return [f"{whose}: no claim of {suite} about `{of}` holds"]
    elif "/" in shown_by and not (ROOT / shown_by.partition("#")[0]).exists():
        return [f"{whose}: {shown_by} is not in the project"]
    return []


def main(is_check: bool = False) -> None:
    """Writes the pages, or checks them."""
    documents = [Document(name) for name in DOCUMENTS]
    paths = [SUMMARY, *(PAGES / f"{name}.md" for name in DOCUMENTS)]
    made = {path: filled(path, documents) for path in paths}
    wrong = faults(documents)
    if is_check:
        for path, text in made.items():
            if path.read_text(encoding="utf-8") != text:
                stale = path.relative_to(ROOT)
                wrong.append(f"{stale} is stale; run scripts/figures.sh")
    else:
        for path, text in made.items():
            path.write_text(text, encoding="utf-8")
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main("--check" in sys.argv[1:])
