"""Latency, bandwidth and collectives as a ReFrame test, whose references are results of earlier days.

    reframe -c mpigauge_test.py -r --performance-report                      # measures only
    reframe -c mpigauge_test.py -r -S baseline=/data/mpigauge/this-system    # a folder of three results

Copies of result.jsonl in that folder are the next baseline. Where ReFrame's scheduler is not local, mpigauge
starts its ranks in the job's allocation itself.
"""

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher

UNDECIDED = 5  # docs/slower.md has the others


@rfm.simple_test
class MpigaugeTest(rfm.RunOnlyRegressionTest):
    """Sanity: everything was measured. Performance: nothing is slower than earlier results let expect."""

    descr = "MPI latency, bandwidth and allreduce"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "mpigauge"
    keep_files = ["result.jsonl", "result.json", "verdict.json"]
    time_limit = "10m"

    what = variable(str, value="pingpong allreduce memcpy --sizes 8,1MiB --launches 6")
    baseline = variable(str, value="")
    strict = variable(bool, value=False)  # an undecided comparison fails, and is not skipped

    @run_before("run")
    def commands(self):
        """The job ends with the status of mpigauge run; that of the comparison is in a file."""
        self.job.launcher = getlauncher("local")()
        self.executable_opts = ["run", self.what, "-q", "-o", "result.jsonl", ">/dev/null"]
        self.postrun_cmds = ["measured=$?", "mpigauge show result.jsonl --all --format json > result.json"]
        if self.baseline:
            against = f"--baseline '{self.baseline}' --all --format json"
            self.postrun_cmds += [
                f"mpigauge compare result.jsonl {against} > verdict.json",
                "echo $? > verdict",
            ]
        self.postrun_cmds += ["exit $measured"]

    @run_before("sanity")
    def undecided(self):
        """Neither slower nor not: ReFrame has a word for that, and it is not PASS."""
        verdict = Path(self.stagedir) / "verdict"
        status = int(verdict.read_text()) if verdict.exists() else 0
        self.skip_if(
            status == UNDECIDED and not self.strict, "undecided: more launches, or a quieter machine"
        )
        self.verdict = status

    @sanity_function
    def measured(self):
        """0 and 1 are verdicts; anything else, as of a baseline of another machine, is none."""
        allowed = (0, 1)
        return sn.all(
            [
                sn.assert_eq(
                    self.job.exitcode, 0, "mpigauge run ended with {0}: see its words in rfm_job.err"
                ),
                sn.assert_in(self.verdict, allowed, "mpigauge compare ended with {0}: see rfm_job.err"),
            ]
        )

    @run_before("performance")
    def numbers(self):
        """Every time in microseconds; what is judged slower misses its reference, and nothing else does."""
        times = {}
        for row in self._read("result.json")["rows"]:
            if row["time_s"] and row["pattern"] != "null":
                name = self._name(row)
                if name in times:
                    raise ValueError(f"two numbers are {name}: give this test its own _name")
                times[name] = row["time_s"]["estimate"]
                self.perf_variables[name] = sn.make_performance_function(sn.defer(times[name] * 1e6), "us")
        if not self.baseline:
            return
        said = self._read("verdict.json")
        self.reference = {
            "*": {
                self._name(cell): (
                    cell["base_s"] * 1e6,
                    None,
                    said["margin"] if cell["said"] == "slower" else None,
                    "us",
                )
                for cell in [*said["cells"], *said["controls"]]
                if cell["base_s"]
            }
        }

    def _read(self, name):
        return json.loads((Path(self.stagedir) / name).read_text(encoding="utf-8"))

    @staticmethod
    def _name(row):
        words = [row["pattern"], row["mode"], f"{row['bytes']}B", f"{row['ranks']}ranks", row["mpi"]]
        return "_".join(word.replace("-", "_") for word in words)
