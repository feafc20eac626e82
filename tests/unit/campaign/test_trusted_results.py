"""What a result names that would be run: every word of a record is named, or known to lead to nothing."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import Struct, inspect
from msgspec.structs import replace

from mpigauge.campaign.prepare import _with_home
from mpigauge.campaign.trusted_results import HARMLESS, fields_with_words, named_by
from mpigauge.mpi.environments import with_absolute_paths
from mpigauge.plan.hosts import Host
from mpigauge.plan.model import Cell, Measure, Plan
from mpigauge.result.environment import environment
from mpigauge.result.provenance import LibraryRecord
from mpigauge.result.records import Campaign, Launch, Record, campaign_of
from tests.fakes.mpi import install

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMED = {
    Plan: "mpi placements launcher mpiexec remote_shell variables mpi_options vary",
    Host: "name",
    LibraryRecord: "mpicc mpicc_options compiler loaded_by",
    Cell: "placement setting",
}
"""Fields whose words are asked about."""

CHECKED_BY_THEMSELVES = {"pair", "group", "started"}
"""Words that no record can be made with unless they are ranks or moments."""


def kinds_in(kind: type[Struct], seen: dict[type[Struct], None] | None = None) -> dict[type[Struct], None]:
    """All records that are in a record, with it."""
    seen = {} if seen is None else seen
    if kind not in seen:
        seen[kind] = None
        for field in inspect.type_info(kind).fields:  # type: ignore[attr-defined]
            for inside in structs_of(field.type):
                kinds_in(inside, seen)
    return seen


def structs_of(kind: Any) -> Iterator[type[Struct]]:
    """The records in a type of a field."""
    if isinstance(kind, inspect.StructType):
        yield kind.cls
    for name in ("type", "key_type", "value_type", "item_type"):
        if hasattr(kind, name):
            yield from structs_of(getattr(kind, name))
    for one in (*getattr(kind, "types", ()), *getattr(kind, "item_types", ())):
        yield from structs_of(one)


def own_words(kind: type[Struct]) -> frozenset[str]:
    """The fields with words of a record, without those that hold other records."""
    types = {field.name: field.type for field in inspect.type_info(kind).fields}  # type: ignore[attr-defined]
    return frozenset(name for name in fields_with_words(kind) if not any(structs_of(types[name])))


@pytest.mark.parametrize("kind", kinds_in(Campaign), ids=lambda kind: kind.__name__)
def test_of_every_field_of_a_campaign_it_is_decided_whether_it_is_asked_about(kind: type[Struct]) -> None:
    """A new field with words belongs to one of the two lists."""
    harmless, named = (set(fields.get(kind, "").split()) for fields in (HARMLESS, NAMED))
    assert not harmless & named
    assert harmless | named == own_words(kind)


def marked(kind: Any, name: str) -> Any:
    """A value of a type with this name in every word of it, and in records the names of their own fields."""
    if isinstance(kind, inspect.StructType):
        return kind.cls(
            **{
                field.name: marked(field.type, f"{kind.cls.__name__}.{field.name}")
                for field in kind.fields
                if field.name not in CHECKED_BY_THEMSELVES
            },
            **({"started": ""} if kind.cls is Campaign else {}),
        )
    if isinstance(kind, inspect.UnionType):
        most = max(kind.types, key=lambda one: isinstance(one, inspect.StructType | inspect.StrType))
        return marked(most, name)
    if isinstance(kind, inspect.DictType):
        return {marked(kind.key_type, f"key {name}"): marked(kind.value_type, name)}
    if inside := getattr(kind, "item_types", ()) or [getattr(kind, "item_type", None)]:
        values = tuple(marked(one, name) for one in inside if one is not None)
    if isinstance(kind, inspect.Metadata):
        return marked(kind.type, name)
    return values or (name if isinstance(kind, inspect.StrType) else getattr(kind, "values", (1,))[0])


def test_every_word_that_is_not_harmless_is_asked_about() -> None:
    campaign = marked(inspect.type_info(Campaign), "")
    words = "\n".join(word for one in named_by(campaign) for word in one.words) + "\n"
    for kind in kinds_in(Campaign):
        for field in own_words(kind) - CHECKED_BY_THEMSELVES:
            is_harmless = field in HARMLESS.get(kind, "").split()
            assert (f"{kind.__name__}.{field}\n" in words) != is_harmless, (kind, field)


def test_records_after_the_first_are_known() -> None:
    """Of these no word is in a command: `test_trust.py` has the one that was, of Launch."""
    later = {kind.__name__ for one in Record.__args__ for kind in kinds_in(one)}
    assert later - {kind.__name__ for kind in kinds_in(Campaign)} == {
        *("Launch", "JobKey", "RankPlace", "HostCards", "Card", "Machine"),
        *("Clock", "ClockCheck", "ClockModel", "Visit", "CardTraffic", "Eager", "CrossingSamples", "Blocked"),
        *("Imported", "Unread", "Failure", "Done", "End", "Resumed", "Difference"),
    }
    assert "options_found" in fields_with_words(Launch)


# ---- Files ---------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with files of a stranger."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    install(tmp_path / "opt", "mpich", abi=True)
    for name in (
        "evil",
        "with blank/evil",
        "a=b/evil",
        "home/evil",
        "~/evil",
        "far/evil",
        "far/in/x",
        "abi/mpicc",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    (tmp_path / "link").symlink_to("far/in")
    (tmp_path / "abi" / "mpicc_abi").symlink_to(tmp_path / "opt" / "bin" / "mpicc_abi")
    return tmp_path


def files_of(library: dict[str, Any], plan: dict[str, Any]) -> set[str]:
    """The files that a campaign leads to."""
    record = replace(LibraryRecord("openmpi", "5.0.11"), **library)
    campaign = campaign_of(
        replace(Plan((Measure("pingpong"),)), **plan), [record], [], [], environment=environment()
    )
    return {str(path) for one in named_by(campaign) for path in one.files}


@pytest.mark.parametrize(
    ("library", "plan", "file"),
    [
        ({"loaded_by": "source:evil"}, {}, "evil"),
        ({"loaded_by": "source:./evil x"}, {}, "evil"),
        ({"loaded_by": "source:~/evil"}, {}, "home/evil"),
        ({"loaded_by": "source:'with blank/evil'"}, {}, "with blank/evil"),
        ({"loaded_by": "source:a=b/evil"}, {}, "a=b/evil"),
        ({"loaded_by": "evil"}, {}, "evil"),
        ({"loaded_by": "module:gcc/13 ./evil"}, {}, "evil"),
        ({"mpicc": "opt/bin/mpicc"}, {}, "opt/bin/mpicc"),
        ({"mpicc": "opt"}, {}, "opt/bin/mpicc"),
        ({"mpicc": "opt", "mpiexec": "/usr/bin/mpiexec"}, {}, "opt/bin/mpiexec"),
        ({"mpicc": "opt"}, {}, "opt/bin/mpicc_abi"),
        ({"compiler": "opt/bin/mpicc_abi"}, {}, "opt/bin/mpicc"),
        ({"compiler": "abi/mpicc_abi"}, {}, "abi/mpicc"),
        ({"loaded_by": "source:a.sh ./evil"}, {}, "evil"),
        ({"loaded_by": "source:link/../evil"}, {}, "far/evil"),
        ({}, {"mpiexec": "link/../evil"}, "link/../evil"),
        ({}, {"remote_shell": "./~/evil"}, "~/evil"),
        ({}, {"remote_shell": "~/evil"}, "home/evil"),
        ({}, {"launcher": """bash -c '"./evil" {ranks}'"""}, "evil"),
        ({}, {"launcher": "mpiexec @./evil -n {ranks}"}, "evil"),
        ({}, {"variables": {"BASH_ENV": "$(echo ./evil)"}}, "evil"),
        ({"mpicc_options": ("-B./evil",)}, {}, "evil"),
        ({"mpicc_options": ("-cc=./evil",)}, {}, "evil"),
        ({"mpicc_options": ("-fplugin=a=b/evil",)}, {}, "a=b/evil"),
        ({}, {"mpiexec": "./evil"}, "evil"),
        ({}, {"launcher": "./evil -n {ranks}"}, "evil"),
        ({}, {"launcher": "env X=1 './with blank/evil' {ranks}"}, "with blank/evil"),
        ({}, {"remote_shell": "with blank/evil"}, "with blank/evil"),
        ({}, {"variables": {"LD_PRELOAD": "/nowhere.so:./evil"}}, "evil"),
        ({}, {"variables": {"OMPI_MCA_mca_base_param_files": "~/evil"}}, "home/evil"),
        ({}, {"vary": {"LD_PRELOAD": ("./evil",)}}, "evil"),
        ({}, {"mpi_options": ("--launch-agent", "./evil")}, "evil"),
        ({}, {"mpi_options": ("--prtemca=x=./evil",)}, "evil"),
        ({}, {"mpi": ("main=source:./evil",)}, "evil"),
        ({}, {"mpi": ("main=./opt",)}, "opt/bin/mpicc"),
    ],
    ids=str,
)
def test_the_files_behind_a_word_are_those_that_would_be_run(
    folder: Path, library: dict[str, Any], plan: dict[str, Any], file: str
) -> None:
    assert str(folder / file) in files_of(library, plan)


def test_a_variable_is_asked_about_as_programs_are_given_it(folder: Path) -> None:
    """Where it may be a secret, ~ in it is no home, but a folder of this name."""
    variables = {"LD_PRELOAD": f"~/evil:AKIA{16 * 'A'}", "SSL_CERT": "a ~/evil", "LD_AUDIT": "~/evil"}
    plan = replace(Plan((Measure("pingpong"),)), variables=variables)
    named = {one.words: one.files for one in named_by(campaign_of(plan, [], [], []))}
    given = _with_home(plan).variables
    assert named.keys() == {(f"{name}={value}",) for name, value in given.items()}
    assert given["LD_AUDIT"] == f"{folder}/home/evil"
    for name in ("LD_PRELOAD", "SSL_CERT"):
        assert folder / "~" / "evil" in named[(f"{name}={variables[name]}",)]


def test_lists_that_read_alike_are_told_apart(folder: Path) -> None:
    """A launcher would run the last word of the one, and give it to another program in the other."""

    def said(*options: str) -> list[tuple[str, ...]]:
        plan = replace(Plan((Measure("pingpong"),)), mpi_options=options)
        return [one.words for one in named_by(campaign_of(plan, [], [], []))]

    assert said("-x", "LANG", "-x", "./evil") == [("-x", "LANG", "-x", "./evil")]
    assert said("-x", "LANG", "./evil") == [("-x", "LANG", "./evil")]


@pytest.mark.parametrize("word", ["auto", "same-host", "different-hosts"])
def test_words_of_mpigauge_are_as_good_as_any_for_a_name(folder: Path, word: str) -> None:
    plan = replace(Plan((Measure("pingpong"),)), mpi_options=(word,), mpiexec=word)
    record = LibraryRecord("openmpi", "5.0.11", mpicc=word)
    assert {one.label for one in named_by(campaign_of(plan, [record], [], []))} == {
        "mpicc",
        "mpiexec",
        "mpi options",
    }


def test_what_leads_to_no_file_is_named_all_the_same(folder: Path) -> None:
    plan = {"mpi": ("main=./nowhere", "openmpi"), "launcher": "srun", "variables": {"A": "\0"}}
    assert files_of({"mpicc": "nowhere", "loaded_by": "module:gcc/13"}, plan) == set()


@pytest.mark.parametrize(
    ("name", "means"),
    [
        ("source:env.sh release", "source:{0}/env.sh release"),
        ("source:'my env.sh'", "source:'{0}/my env.sh'"),
        ("source:/opt/env.sh", "source:/opt/env.sh"),
        ("module:gcc/13 openmpi/5.0.8", "module:gcc/13 openmpi/5.0.8"),
        ("module:./mine", "module:{0}/mine"),
    ],
)
def test_a_users_word_means_the_same_in_every_folder(folder: Path, name: str, means: str) -> None:
    assert with_absolute_paths(name) == means.format(folder)
    assert shlex.split(with_absolute_paths(name))


def test_a_script_without_a_slash_is_searched_for_as_source_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f".:{folder / 'home'}")
    assert with_absolute_paths("source:evil") == f"source:{folder / 'home' / 'evil'}"
