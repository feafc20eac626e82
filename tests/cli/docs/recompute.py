"""Recomputes what pages show, with the standard library alone, and reports what differs.

python tests/cli/docs/recompute.py docs/reports/ring.md …
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def main(paths: list[str]) -> int:
    """Status 1 if a number differs."""
    sys.path.insert(0, str(ROOT))
    from tests.cli.docs.recomputing.page import recompute  # noqa: PLC0415 - needs the path

    wrong = 0
    for path in paths:
        ledger = recompute(Path(path).read_text(encoding="utf-8"))
        wrong += len(ledger.differ)
        print(f"{path}: {ledger.agree} agree, {len(ledger.differ)} differ, {ledger.missed} not recomputed")
        print(*(f"  differs: {one}" for one in ledger.differ), sep="\n")
        print(*(f"  not recomputed, {count}: {one}" for one, count in ledger.unchecked), sep="\n")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
