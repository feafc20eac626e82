"""Models of processors: the system's name, or a name for the numbers that it gives instead."""

import re

NAMED = re.compile(r"^(?:model name|Hardware|cpu model|cpu)[ \t]*:[ \t]*(.+)$", re.MULTILINE)
NUMBERED = re.compile(r"implementer (0x[0-9a-f]+) part (0x[0-9a-f]+)")

MAKERS = {
    0x41: "Arm",
    0x43: "Cavium",
    0x46: "Fujitsu",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x51: "Qualcomm",
    0x61: "Apple",
    0xC0: "Ampere",
}
PARTS = {
    (0x41, 0xD03): "Cortex-A53",
    (0x41, 0xD07): "Cortex-A57",
    (0x41, 0xD08): "Cortex-A72",
    (0x41, 0xD0B): "Cortex-A76",
    (0x41, 0xD0C): "Neoverse-N1",
    (0x41, 0xD40): "Neoverse-V1",
    (0x41, 0xD49): "Neoverse-N2",
    (0x41, 0xD4F): "Neoverse-V2",
    (0x43, 0x0AF): "ThunderX2",
    (0x46, 0x001): "A64FX",
    (0x48, 0xD01): "Kunpeng 920",
    (0xC0, 0xAC3): "Ampere-1",
}
"""Names of server cores, by implementer and part number."""


def model_of(cpuinfo: str) -> str:
    """Return the model named in a text like /proc/cpuinfo; "" if none is.

    The kernel does the same on the hosts that it runs on (machine/host_facts.c), but for names of numbers.
    """
    if match := NAMED.search(cpuinfo):
        return match[1]
    maker = re.search(r"^CPU implementer\s*:\s*(\S+)", cpuinfo, re.MULTILINE)
    part = re.search(r"^CPU part\s*:\s*(\S+)", cpuinfo, re.MULTILINE)
    if maker and part:
        return readable_model(f"implementer {maker[1]} part {part[1]}")
    mainframe = re.search(r"^processor 0\s*:.*(machine = .+)$", cpuinfo, re.MULTILINE)
    return f"IBM/S390 {mainframe[1]}" if mainframe else ""


def readable_model(model: str) -> str:
    """Return the name of a model given by numbers, if it is known; any other model unchanged."""
    match = NUMBERED.fullmatch(model)
    if match is None:
        return model
    maker, part = int(match[1], 16), int(match[2], 16)
    if maker not in MAKERS:
        return model
    return f"{MAKERS[maker]} {PARTS.get((maker, part), f'part {match[2]}')}"
