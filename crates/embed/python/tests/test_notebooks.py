"""Runs the notebooks: the code of each, cell by cell, without a kernel of Jupyter.

Their figures are in out/notebooks afterwards.
"""

import contextlib
import io
import json
import linecache
import re
import traceback
import unittest
import warnings
from pathlib import Path
from unittest import mock

import matplotlib
from matplotlib import pyplot

ROOT = Path(__file__).resolve().parents[4]
FIGURES = ROOT / "out/notebooks"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def cells_of(text: str, kind: str) -> list[tuple[int, str]]:
    """The cells of a kind with their numbers, which count all cells from one."""
    cells = enumerate(json.loads(text)["cells"], 1)
    return [
        (number, "".join(cell["source"]))
        for number, cell in cells
        if cell["cell_type"] == kind
    ]


def run(name: str, text: str) -> None:
    """Run the code of a notebook in one namespace.

    The traceback of an error names the notebook, the cell and the line.
    """
    shown = 0

    def show() -> None:
        nonlocal shown
        for number in pyplot.get_fignums():
            shown += 1
            pyplot.figure(number).savefig(FIGURES / f"{name}-{shown}.png", dpi=100)
        pyplot.close("all")

    namespace = {"__name__": "__main__"}
    with (
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(io.StringIO()),
        mock.patch.object(pyplot, "show", show),
        matplotlib.rc_context(),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        for number, code in cells_of(text, "code"):
            where = f"{name}.ipynb, cell {number}"
            # The traceback shows the lines of the cell.
            linecache.cache[where] = (len(code), None, code.splitlines(True), where)
            exec(compile(code, where, "exec"), namespace)  # noqa: S102, a cell is code


class Notebooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        matplotlib.use("agg")
        cls.addClassCleanup(pyplot.close, "all")
        FIGURES.mkdir(parents=True, exist_ok=True)

    def test_every_notebook_runs_and_its_assertions_hold(self):
        self.assertGreaterEqual(len(NOTEBOOKS), 6)
        for path in NOTEBOOKS:
            with self.subTest(path.name):
                run(path.stem, path.read_text(encoding="utf-8"))

    def test_a_failure_names_notebook_cell_and_line(self):
        cells = [
            {"cell_type": "markdown", "source": ["# A title"]},
            {"cell_type": "code", "source": ["x = 1\n", "assert x == 2, 'two'"]},
        ]
        try:
            run("made-up", json.dumps({"cells": cells}))
        except AssertionError:
            told = traceback.format_exc()
        else:
            self.fail("it passes")
        for part in ('"made-up.ipynb, cell 2", line 2', "assert x == 2", "Error: two"):
            self.assertIn(part, told)

    def test_notebooks_have_prose_assertions_and_no_outputs(self):
        for path in NOTEBOOKS:
            text = path.read_text(encoding="utf-8")
            with self.subTest(path.name):
                for cell in json.loads(text)["cells"]:
                    self.assertFalse(cell.get("outputs"), "clear the outputs")
                    self.assertIsNone(cell.get("execution_count"))
                self.assertTrue(cells_of(text, "markdown")[0][1].startswith("# "))
                self.assertIn("assert ", cells_of(text, "code")[-1][1])

    def test_links_lead_to_files(self):
        for path in NOTEBOOKS:
            text = path.read_text(encoding="utf-8")
            for number, prose in cells_of(text, "markdown"):
                for target in re.findall(r"\]\(([^)#]+)", prose):
                    with self.subTest(path.name, cell=number, target=target):
                        self.assertTrue((path.parent / target).exists())


if __name__ == "__main__":
    unittest.main()
