"""mpigauge: what MPI communication costs here, how sure that is, and whether it is as it should be."""

__version__ = "0.1.0"
