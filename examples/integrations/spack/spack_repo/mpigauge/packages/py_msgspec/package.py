from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyMsgspec(PythonPackage):
    """A fast serialization and validation library for JSON, MessagePack, YAML and TOML."""

    homepage = "https://jcristharif.com/msgspec"
    pypi = "msgspec/msgspec-0.21.1.tar.gz"

    license("BSD-3-Clause")

    version("0.21.1", sha256="2313508e394b0d208f8f56892ca9b2799e2561329de9763b19619595a6c0f72c")

    depends_on("c", type="build")

    with default_args(type="build"):
        depends_on("py-setuptools@80:")
        depends_on("py-setuptools-scm@8:")

    with default_args(type=("build", "run")):
        depends_on("python@3.10:")
