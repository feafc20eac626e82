"""Models of processors are found in /proc/cpuinfo of every architecture, and numbers have names."""

from __future__ import annotations

import pytest

from mpigauge.result.cpu_models import model_of, readable_model

X86 = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Some Xeon\n"
POWER = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800.0MHz\n"
ARM = "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: {}\nCPU variant\t: 0x3\nCPU part\t: {}\n"
MAINFRAME = "vendor_id       : IBM/S390\nprocessor 0: version = FF,  identification = 1A2B,  machine = 8561\n"


@pytest.mark.parametrize(
    ("cpuinfo", "model"),
    [
        (X86, "Some Xeon"),
        (X86.replace("model name\t: Some Xeon\n", ""), ""),
        (POWER, "POWER9, altivec supported"),
        (ARM.format("0x41", "0xd0c"), "Arm Neoverse-N1"),
        (ARM.format("0x41", "0xfff"), "Arm part 0xfff"),
        (ARM.format("0x99", "0x001"), "implementer 0x99 part 0x001"),
        (MAINFRAME, "IBM/S390 machine = 8561"),
        ("", ""),
    ],
)
def test_the_model_is_what_the_system_says_or_its_numbers_mean(cpuinfo: str, model: str) -> None:
    assert model_of(cpuinfo) == model
    assert readable_model(model) == model
