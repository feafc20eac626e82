"""Runs the cells of examples/notebook.ipynb in their order and keeps what they show.

    python docs/notebook.py

A test runs them again and holds what they show against what is kept. No kernel is needed: a cell shows what
it prints, then the value of its last expression, as text and as HTML.
"""

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parents[1] / "examples" / "notebook.ipynb"


def run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell; return its outputs in the form of a notebook.

    Args:
        names: Names defined by earlier cells; this cell's are added.
    """
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102 - our own notebook
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)})
    if value is not None:
        outputs.append(
            {"data": _data(value), "execution_count": None, "metadata": {}, "output_type": "execute_result"}
        )
    return outputs


def _data(value: Any) -> dict[str, list[str]]:
    html = {"text/html": [value._repr_html_()]} if hasattr(value, "_repr_html_") else {}
    return {**html, "text/plain": repr(value).splitlines(keepends=True)}


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with the outputs of its cells."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [
        {**cell, "outputs": run_cell("".join(cell["source"]), names)} if cell["cell_type"] == "code" else cell
        for cell in notebook["cells"]
    ]
    return {**notebook, "cells": cells}


def as_file(notebook: dict[str, Any]) -> str:
    """Return the text of a notebook as Jupyter writes it."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the notebook anew; with --check, print it instead."""
    text = as_file(executed(json.loads(NOTEBOOK.read_text(encoding="utf-8"))))
    if "--check" in sys.argv:
        sys.stdout.write(text)
    else:
        NOTEBOOK.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
