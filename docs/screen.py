"""Draws screens/answer.png: the answer of a stored result, with a number beside each part of it.

    python docs/screen.py

The picture keeps its text, which a test holds against what the program prints now.
"""

import os
import subprocess
import sys
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

HERE = Path(__file__).parent
PICTURE = HERE / "screens" / "answer.png"
RESULT = "messages.jsonl"
TEXT = "answer"
"""Name of the text in the picture's metadata."""

PARTS = (
    "a message of ",
    "vm ",
    "Open MPI ",
    "latency, ",
    "bandwidth ",
    "barrier ",
    "eager limit ",
    "message / memcpy ",
    "! ",
    "all numbers: ",
)
"""Beginnings of the lines that docs/answer.md explains, in the order of its list."""

LINE_INCHES, LETTER_INCHES = 0.16, 0.0723


def answer() -> str:
    """Return the answer of the result as 80 columns show it."""
    stored = HERE / "results" / f"{RESULT}.gz"
    words = [sys.executable, "-m", "mpigauge", "show", str(stored)]
    environ = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environ)
    return done.stdout.replace(str(stored), RESULT)


def draw(text: str) -> None:
    """Write the picture of an answer."""
    lines = text.splitlines()
    width, height = 84 * LETTER_INCHES, (len(lines) + 1) * LINE_INCHES
    whole = Figure(figsize=(width, height), facecolor="#1e1e1e")
    FigureCanvasAgg(whole)
    left = list(PARTS)
    for number, line in enumerate(lines):
        at = 1 - (number + 1) * LINE_INCHES / height
        whole.text(3.5 / 84, at, line, color="#e6e6e6", family="DejaVu Sans Mono", size=8.6, va="center")
        if left and line.startswith(left[0]):
            sign = str(len(PARTS) - len(left) + 1)
            left.pop(0)
            whole.text(
                1.2 / 84,
                at,
                sign,
                color="#1e1e1e",
                size=7,
                ha="center",
                va="center",
                weight="bold",
                bbox={"boxstyle": "circle,pad=0.22", "facecolor": "#E69F00", "linewidth": 0},
            )
    if left:
        sys.exit(f"no line begins with {left[0]!r}")
    whole.savefig(PICTURE, dpi=160, metadata={TEXT: text, "Software": ""})


if __name__ == "__main__":
    draw(answer())
