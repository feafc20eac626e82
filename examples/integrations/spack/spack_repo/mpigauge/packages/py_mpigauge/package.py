import os

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyMpigauge(PythonPackage):
    """Measures what MPI communication costs here, with intervals one can trust."""

    # The archive that you have built, from the current folder: ../../repo.yaml says how.
    url = f"file://{os.getcwd()}/mpigauge-0.1.0.tar.gz"
    manual_download = True

    license("BSD-3-Clause")

    version("0.1.0")

    requires("platform=linux", msg="measuring needs Linux")

    with default_args(type="build"):
        depends_on("py-hatchling@1.26:")

    with default_args(type=("build", "run")):
        depends_on("python@3.11:")
        depends_on("py-click@8.1.7:")
        depends_on("py-jinja2@3.1:")
        depends_on("py-matplotlib@3.8:")
        depends_on("py-msgspec@0.19:")
        depends_on("py-numpy@1.26:")
        depends_on("py-rich@13.7:")
        depends_on("py-scipy@1.11:")

    # Nothing is linked when this is installed: the kernel is compiled when something is measured.
    with default_args(type="run"):
        depends_on("c")
        depends_on("mpi")
