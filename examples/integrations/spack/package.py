# Spack: mpigauge for every MPI of your system.
#
#     python -m build --sdist                     # in a checkout: dist/mpigauge-0.1.0.tar.gz
#     spack repo create tools && mkdir -p tools/packages/py-mpigauge
#     cp package.py tools/packages/py-mpigauge/ && spack repo add tools
#     (cd dist && spack install --no-checksum py-mpigauge ^openmpi)
#
# In a repository of the newer layout the folder is py_mpigauge. The kernel is built with the mpicc in use,
# so one installation serves all libraries: spack load py-mpigauge mpich, or mpigauge run --mpi PREFIX.

import os

from spack.package import *


class PyMpigauge(PythonPackage):
    """Measures what MPI communication costs here, with intervals one can trust."""

    license("BSD-3-Clause")
    url = f"file://{os.getcwd()}/mpigauge-0.1.0.tar.gz"
    manual_download = True

    version("0.1.0")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-hatchling@1.26:", type="build")

    depends_on("py-click@8.1.7:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-matplotlib@3.8:", type=("build", "run"))
    depends_on("py-msgspec@0.19:", type=("build", "run"))
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-rich@13.7:", type=("build", "run"))
    depends_on("py-scipy@1.11:", type=("build", "run"))

    # Nothing is linked when this is installed: the kernel is compiled when something is measured.
    depends_on("mpi", type="run")
    depends_on("c", type="run")
