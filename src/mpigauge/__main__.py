"""`python -m mpigauge` is `mpigauge`."""

from mpigauge.cli import main

main()
