"""Mutated files of studies and protocols: each is refused with file and line, or taken.

    PYTHONPATH=$PWD/pipeline:$PWD python tests/faults/fuzz_files.py --mutants 500 --seed 1

Each kind of file gets that many mutants, of all studies or protocols that have it. A mutant must
end within MOST_S in what the file describes or in one BdpbenchError that names a line.
"""

from __future__ import annotations

import argparse
import copy
import csv
import io
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from types import FrameType
from typing import Any

import yaml  # type: ignore[import-untyped]

from bdpbench.contracts.files import CONTROL_CHARACTER
from bdpbench.contracts.paths import config_dir, repository_root
from bdpbench.contracts.plan import PlannedRun
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import definitions_for
from bdpbench.pages.texts import load_matrices, load_page
from bdpbench.score import check_expectations, load_expectations
from bdpbench.score.published import load_history
from bdpbench.studies.atlas import load_declared
from bdpbench.studies.evaluate import read_mirror
from bdpbench.studies.folders import ProtocolFolder, QueueFolder
from bdpbench.studies.identity import Identities
from bdpbench.studies.load import load_study, study_keys
from bdpbench.studies.plan import tiers_of
from bdpbench.studies.runs import expand_tier

MOST_S = 20
NUMBERS = (0, -1, 0.5, 1e16, 1e300, -1e300, 2**31, 2**63, 10**400, float("inf"), float("nan"))
WORDS = ("", " ", "..", "*", "[", "$x", "{y}", "=1+1", "é", "\U0001f4a5", "x" * 300, "a\nb", "~")
VALUES = (*NUMBERS, *WORDS, None, True, [], {}, [[]], {"a": {}}, [None], {1: 2}, {None: 1})
LINES = (
    *("\t- a", "<<: *nowhere", "a: &a [*a]", "? [a, b]", "- &x {<<: *x}", "%YAML 1.1", "---"),
    *("...", "!!python/object:os.system {}", "x: !!binary a", "x: !!set {a}", "2024-02-30", "x: |"),
    *("- - - -", "'", '"', "{", "[" * 3000, "x: \x1b[31m", "x: \0", "x: \x85\u2028y", "\ufeff"),
    *("x: \u202e", "x: 0x", "x: 1e999", "x: .nan", "x: 12:30:45", "x: 0o9", "x: 1_0", "&x *x"),
    "x: 2024-01-01",
)  # fmt: skip


# ---------------------------------------------------------------- mutations


def _places(node: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    children = node.items() if isinstance(node, dict) else enumerate(node)
    for key, child in children:
        yield (*place, key)
        if isinstance(child, (dict, list)):
            yield from _places(child, (*place, key))


def _at(document: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        document = document[key]
    return document


def of_data(document: Any, chance: random.Random) -> Any:
    """The document with one part removed, renamed, repeated, misspelt, moved or replaced."""
    found = copy.deepcopy(document)
    places = list(_places(found))
    if not places:
        return found
    *above, last = chance.choice(places)
    node = _at(found, tuple(above))
    value = node[last]
    match chance.randrange(7):
        case 0:
            del node[last]
        case 1 if isinstance(node, dict):
            node[chance.choice((*WORDS, f"{last}x", 1, None))] = node.pop(last)
        case 2 if isinstance(node, list):
            node.insert(last, copy.deepcopy(value))
        case 3 if isinstance(value, str):
            node[last] = f"{value}x"
        case 4:
            node[last] = copy.deepcopy(_at(found, chance.choice(places)))
        case 5:
            node[last] = chance.choice(([value], {str(value)[:9]: value}, str(value)))
        case _:
            node[last] = chance.choice(VALUES)
    return found


def of_cells(text: str, chance: random.Random) -> str:
    """A CSV file with one cell, row or column replaced, repeated or removed."""
    rows = list(csv.reader(io.StringIO(text)))
    row = chance.choice(rows)
    column = chance.randrange(len(row))
    match chance.randrange(5):
        case 0:
            del row[column]
        case 1:
            rows.append(row)
        case 2:
            for each in rows:
                each[column : column + 1] = chance.choice(([], each[column : column + 1] * 2))
        case 3:
            row[column] += "x"
        case _:
            row[column] = str(chance.choice(VALUES))
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def of_text(text: str, chance: random.Random) -> bytes:
    """The file with a line repeated, removed, moved or added, or with bytes cut or overwritten."""
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    cut = chance.randrange(len(text))
    match chance.randrange(7):
        case 0:
            lines.insert(at, lines[at])
        case 1:
            del lines[at]
        case 2:
            lines[at] = "  " * chance.randrange(4) + lines[at].lstrip()
        case 3:
            indent = " " * (len(lines[at]) - len(lines[at].lstrip()))
            lines.insert(at, f"{indent}{chance.choice(LINES)}\n")
        case 4:
            lines[at] = re.sub(r": .*", lambda _: f": {chance.choice(LINES)}", lines[at])
        case 5:
            return text.encode()[:cut]
        case _:
            odd = chance.choice((b"\0", b"\xff\xfe", b'"', b"\x1b", b"\r", b"\t", b"&a", b"\xc3"))
            return text[:cut].encode() + odd + text[cut:].encode()
    return "".join(lines).encode("utf-8", "surrogatepass")


def mutant(text: str, name: str, chance: random.Random) -> bytes:
    """The content of a file with one or two mutations."""
    if chance.random() < 0.4:
        return of_text(text, chance)
    for _ in range(chance.choice((1, 1, 1, 2))):
        with_cells = name.endswith(".csv")
        text = of_cells(text, chance) if with_cells else _dumped(of_data(_loaded(text), chance))
    return text.encode()


def _loaded(text: str) -> Any:
    return yaml.load(text, yaml.CSafeLoader)


def _dumped(document: Any) -> str:
    return str(yaml.dump(document, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False))


# ---------------------------------------------------------------- what reads the files


class Subject:
    """A study of the configuration, and what takes long to make of it."""

    def __init__(self, key: str) -> None:
        self.study = load_study(key)
        self.definitions = definitions_for(self.study.folder)

    @cached_property
    def ids(self) -> frozenset[str]:
        """Of its own expectations."""
        return frozenset(load_expectations(self.study.folder, self.definitions).ids)

    @cached_property
    def tiers(self) -> dict[str, list[PlannedRun]]:
        """Its runs."""
        identities = Identities()
        return {tier: expand_tier(self.study, tier, identities) for tier in tiers_of(self.study)}

    def check(self, path: Path) -> object:
        """Check all expectations beside a file."""
        return check_expectations(path.parent, self.study, self.tiers, self.definitions)


READ: dict[str, Callable[[Subject, Path], object]] = {
    **dict.fromkeys(("claims.yaml", "causes.yaml", "published.csv", "spread.yaml"), Subject.check),
    "history.yaml": lambda subject, path: load_history(path, subject.ids),
    "matrices.yaml": lambda subject, path: load_matrices(path, subject.study, subject.definitions),
    "page.yaml": lambda subject, path: load_page(path, subject.study),
    "evaluate.yaml": lambda subject, path: read_mirror(subject.study, path),
    "atlas.yaml": lambda subject, path: load_declared(),
    "protocol.yaml": lambda _, path: ProtocolFolder(path.parent).file,
    "queue.yaml": lambda _, path: QueueFolder(path.parent).file,
}


def outcome(path: Path, read: Callable[[], object]) -> str:
    """How a mutant ends: *taken* or *refused*; or what is wrong."""
    signal.alarm(MOST_S)
    try:
        read()
    except BdpbenchError as error:
        said = str(error)
    except BaseException:
        return f"a traceback: {traceback.format_exc(limit=-4)}"
    else:
        return "taken"
    finally:
        signal.alarm(0)
    if CONTROL_CHARACTER.search(said):
        return f"controls the terminal: {said!r}"
    found = re.search(r"\.(?:yaml|csv):(\d+)", said)
    lines = 1 + len(path.read_bytes().decode(errors="replace").splitlines())
    if found is None or (f"{path}:" in said and not 1 <= int(found[1]) <= lines):
        return f"no line of {lines}: {said}"
    return "refused"


def fuzz(name: str, subjects: dict[Path, Subject], mutants: int, seed: int) -> int:
    """Read mutants of a kind of file, print their number by outcome; returns that of faults."""
    counts, faults = Counter[str](), list[str]()
    found = sorted(config_dir().rglob(name))
    paths = [path for path in found if path.parent in subjects] or found
    for number in range(mutants):
        path, chance = paths[number % len(paths)], random.Random(f"{seed} {name} {number}")
        subject = subjects.get(path.parent) or next(iter(subjects.values()))
        valid = path.read_text()
        read = partial(READ[name], subject, path)
        assert number >= len(paths) or outcome(path, read) == "taken", path
        path.write_bytes(mutant(valid, name, chance))
        said = outcome(path, read)
        counts[said.partition(":")[0]] += 1
        faults += [f"{path} {number}: {said}"] * (":" in said)
        path.write_text(valid)
    told = ", ".join(f"{count} {said}" for said, count in sorted(counts.items()))
    print("\n".join([f"{name}: {told}", *faults]), flush=True)
    return len(faults)


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TimeoutError


def main() -> int:
    """Read as many mutants of each kind of file as requested; returns whether there were faults."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    signal.signal(signal.SIGALRM, _too_long)
    warnings.simplefilter("error")  # users would see them
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(repository_root() / "config", Path(name) / "config")
        os.environ["BDPBENCH_CONFIG"] = str(Path(name) / "config")
        every = [Subject(key) for key in study_keys()]
        subjects = {each.study.folder: each for each in every if each.tiers and each.ids}
        return min(1, sum(fuzz(each, subjects, given.mutants, given.seed) for each in READ))


if __name__ == "__main__":
    sys.exit(main())
