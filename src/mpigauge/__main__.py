"""`mpigauge` and `python -m mpigauge`: the command line, or why it cannot even be imported."""

import sys

from mpigauge.dependencies import cannot_import


def main() -> None:
    """Runs the command line and exits."""
    try:
        from mpigauge.cli import main as command_line  # noqa: PLC0415 - the first import that may fail
    except Exception as error:
        known = cannot_import(error)
        if known is None:
            raise
        print(f"mpigauge: {known.sentence}\n  hint: {known.hint}", file=sys.stderr)  # noqa: T201 - no cli yet
        sys.exit(known.exit_code)
    command_line()


if __name__ == "__main__":
    main()
