"""Mutated files of studies and protocols: each is refused with file and line, or taken and used.

    PYTHONPATH=pipeline:. python tests/faults/fuzz_files.py --mutants 500 --seed 1

Each kind of file gets that many mutants, of all studies or protocols that have it. A mutant must
end within MOST_S in what the file describes or in one BdpbenchError that names a line. A changed
value that changes nothing is a fault, too, but for a key that is left out: its value may have been
the default. Of long lists only some entries are read, to save time.
"""

from __future__ import annotations

import argparse
import copy
import csv
import functools
import io
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any

import yaml  # type: ignore[import-untyped]

from bdpbench.contracts.files import CONTROL_CHARACTER
from bdpbench.contracts.paths import config_dir, repository_root
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.scorecard import AtlasEntry
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import definitions_for
from bdpbench.pages.matrices import load_matrices
from bdpbench.pages.texts import load_page
from bdpbench.score import Expectations, check_expectations, load_expectations
from bdpbench.score.atlas_entries import Material, StudyRuns, check_relation, entries_of
from bdpbench.score.published import load_history, resolved
from bdpbench.studies import atlas
from bdpbench.studies.atlas import ATLAS_NAME, Declared, load_comparisons, load_declared
from bdpbench.studies.evaluate import read_mirror
from bdpbench.studies.folders import ProtocolFolder, QueueFolder
from bdpbench.studies.identity import Identities
from bdpbench.studies.load import load_study, study_keys
from bdpbench.studies.plan import tiers_of
from bdpbench.studies.runs import expand_tier

MOST_S = 20
ENTRIES = 4
"""Of the lists of claims, numbers and changes."""

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


# ---------------------------------------------------------------- samples of valid files


def _some(entries: list[Any], chance: random.Random) -> list[Any]:
    """Some consecutive entries; there are few choices, as the valid file is read for each."""
    first = chance.randrange(0, max(1, len(entries) - ENTRIES), ENTRIES)
    return copy.deepcopy(entries[first : first + ENTRIES])


def claims_of(claims: list[dict[str, Any]]) -> str:
    """Claims, chosen on one another."""
    chosen_on = {"chosen_on": [claims[0]["id"]]}
    return _dumped([{**each, **(chosen_on if "chosen_on" in each else {})} for each in claims])


def rows_of(rows: list[dict[str, str]]) -> str:
    """Rows of published.csv, chosen on one another."""
    parts = Counter(each["part_of"] for each in rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for each in rows:
        chosen = {"chosen_on": each["chosen_on"] and rows[0]["id"]}
        part = {"part_of": each["part_of"] if parts[each["part_of"]] > 1 else ""}
        writer.writerow({**each, **chosen, **part})
    return out.getvalue()


# ---------------------------------------------------------------- what reads the files


class Subject:
    """A study of the configuration, and what takes long to make of it."""

    def __init__(self, key: str) -> None:
        self.study = load_study(key)
        self.definitions = definitions_for(self.study.folder)
        self.texts = {each.name: each.read_text() for each in self.study.folder.glob("*.[yc]*")}
        self._claims = _loaded(self.texts["claims.yaml"])
        self._rows = list(csv.DictReader(io.StringIO(self.texts.get("published.csv", ""))))
        self._runs = StudyRuns(self.study)

    def sample(self, name: str, chance: random.Random) -> dict[str, str]:
        """Name → content of a valid file, or of a part of it, and of those that it refers to."""
        match name:
            case "claims.yaml":
                return {name: claims_of(_some(self._claims, chance))}
            case "published.csv":
                return {name: rows_of(_some(self._rows, chance))}
            case "spread.yaml":
                return {name: self.texts[name], **self._varied}
        return {name: self.texts[name]}

    @cached_property
    def _varied(self) -> dict[str, str]:
        """The numbers and statements that entries of spread.yaml are about."""
        patterns = [each for entry in _loaded(self.texts["spread.yaml"]) for each in entry["of"]]
        rows = [each for each in self._rows if resolved(patterns, [each["id"]])]
        claims = [each for each in self._claims if resolved(patterns, [each["id"]])]
        numbers = {"published.csv": rows_of(rows)} if rows else {}
        return {"claims.yaml": claims_of(claims) if claims else "[]", **numbers}

    @cached_property
    def _tiers(self) -> dict[str, list[PlannedRun]]:
        identities = Identities()
        return {tier: expand_tier(self.study, tier, identities) for tier in tiers_of(self.study)}

    @cached_property
    def expected(self) -> Expectations:
        """Its own expectations."""
        return load_expectations(self.study.folder, self.definitions)

    def part(self, declared: Declared) -> dict[str, AtlasEntry]:
        """Its entries of the atlas."""
        member = declared.members[self.study.key]
        material = Material(member, self.expected, self.definitions, self._runs)
        return {each["key"]: each for each in entries_of(material, [])}

    def check(self, path: Path) -> Expectations:
        """Check the expectations in another folder as if they were the study's own."""
        return check_expectations(path.parent, self.study, self._tiers, self.definitions)


class Atlas:
    """The declarations of all studies; parts that a mutant does not concern are made once."""

    def __init__(self, subjects: Sequence[Subject]) -> None:
        atlas.read_study = functools.cache(atlas.read_study)  # no mutant is a study.yaml
        declared = load_declared()
        self._parts, took_s = dict[str, dict[str, AtlasEntry]](), {}
        for each in subjects:
            began_s = time.process_time()
            self._parts[each.study.key] = each.part(declared)
            took_s[time.process_time() - began_s] = each
        self._quickest = took_s[min(took_s)]

    def of_study(self, subject: Subject, _: Path) -> object:
        """What a study declares; its relations must refer to what there is."""
        declared, key = load_declared(), subject.study.key
        self._relate(declared, {**self._parts, key: subject.part(declared)})
        return declared.members[key].said

    def of_all(self, _: Subject, __: Path) -> object:
        """What ``config/atlas.yaml`` declares."""
        declared = load_declared()
        parts = {**self._parts, self._quickest.study.key: self._quickest.part(declared)}
        self._relate(declared, parts)
        relations = [each for each, *_ in declared.relations]
        comparisons = [each for each, _ in load_comparisons()]
        return declared.protocols, declared.topics, relations, comparisons

    @staticmethod
    def _relate(declared: Declared, parts: Mapping[str, Mapping[str, AtlasEntry]]) -> None:
        entries = {key: each for part in parts.values() for key, each in part.items()}
        for relation, source, index in declared.relations:
            check_relation(relation, source, index, entries)


def _claims(subject: Subject, path: Path) -> object:
    return [(each.text, each.condition) for each in subject.check(path).claims]


Read = Callable[[Subject, Path], object]
READ: dict[str, Read] = {
    "claims.yaml": _claims,
    "published.csv": lambda subject, path: subject.check(path).numbers,
    "spread.yaml": lambda subject, path: subject.check(path).spreads,
    "history.yaml": lambda subject, path: load_history(path, subject.expected.ids),
    "matrices.yaml": lambda subject, path: load_matrices(path, subject.study, subject.definitions),
    "page.yaml": lambda subject, path: load_page(path, subject.study),
    "evaluate.yaml": lambda subject, path: read_mirror(subject.study, path).file,
}
ATLASES = ("atlas.yaml", "config/atlas.yaml")
FOLDERS = ("protocol.yaml", "queue.yaml")


# ---------------------------------------------------------------- mutants


def outcome(path: Path, read: Callable[[], object], valid: str) -> str:
    """How a mutant ends: *taken*, *equal* to the valid file or *refused*; or what is wrong."""
    signal.alarm(MOST_S)
    try:
        got = repr(read())
    except BdpbenchError as error:
        return _of_error(str(error), path)
    except BaseException:
        return f"a traceback: {traceback.format_exc(limit=-4)}"
    finally:
        signal.alarm(0)
    return "equal" if got == valid else "taken"


def _of_error(said: str, path: Path) -> str:
    if CONTROL_CHARACTER.search(said):
        return f"controls the terminal: {said!r}"
    found = re.search(r"\.(?:yaml|csv):(\d+)", said)
    lines = 1 + len(path.read_bytes().decode(errors="replace").splitlines())
    if found is None or (f"{path}:" in said and not 1 <= int(found[1]) <= lines):
        return f"no line of {lines}: {said}"
    return "refused"


def _data(content: bytes, path: Path) -> Any:
    path.write_bytes(content)
    if path.suffix == ".csv":
        rows = csv.reader(io.StringIO(content.decode(), newline=""))
        return [[cell.strip() for cell in row] for row in rows]
    return YamlFile(path).data


def _only_lacks_keys(found: Any, valid: Any) -> bool:
    """Whether these data are the same but for keys that are missing."""
    if isinstance(found, dict) and isinstance(valid, dict):
        return found.keys() <= valid.keys() and all(
            _only_lacks_keys(each, valid[key]) for key, each in found.items()
        )
    if isinstance(found, list) and isinstance(valid, list):
        return len(found) == len(valid) and all(map(_only_lacks_keys, found, valid))
    return repr(found) == repr(valid)


@dataclass
class Fuzzer:
    """Reads mutants of the files of some studies in a scratch folder."""

    subjects: Sequence[Subject]
    scratch: Path
    seed: int
    _expected: dict[tuple[str, str], str] = field(default_factory=dict)

    def fuzz(self, name: str, mutants: int) -> tuple[Counter[str], list[str]]:
        """Number of mutants of a kind of file by outcome, and the faults."""
        counts: Counter[str] = Counter()
        faults = []
        having = [each for each in self.subjects if Path(name).name in each.texts]
        having = having or list(self.subjects)[:1]  # protocols are of no study
        for number in range(mutants):
            chance = random.Random(f"{self.seed} {name} {number}")
            subject = having[number % len(having)]
            said = self._one(name, subject, chance)
            counts[said.partition(":")[0]] += 1
            if ":" in said:
                faults.append(f"{name} {number}, {subject.study.key}: {said}")
        return counts, faults

    def _one(self, name: str, subject: Subject, chance: random.Random) -> str:
        path, valid, read = self._prepared(name, subject, chance)
        if (name, valid) not in self._expected:
            self._expected[name, valid] = repr(read())
        expected = self._expected[name, valid]
        content = mutant(valid, name, chance)
        path.write_bytes(content)
        said = outcome(path, read, expected)
        if said == "equal" and not _only_lacks_keys(
            _data(content, path), _data(valid.encode(), path)
        ):
            said = f"ignored: {path} says something else, which changes nothing"
        path.write_text(valid)
        return said

    def _prepared(
        self, name: str, subject: Subject, chance: random.Random
    ) -> tuple[Path, str, Callable[[], object]]:
        """Where a mutant is read, the valid content of this file, and what reads it."""
        if name in ATLASES:
            of_all = name != "atlas.yaml"
            path = config_dir() / ATLAS_NAME if of_all else subject.study.folder / ATLAS_NAME
            read = self.atlas.of_all if of_all else self.atlas.of_study
            return path, path.read_text(), lambda: read(subject, path)
        if name in FOLDERS:
            return self._of_a_folder(name, chance)
        folder = self.scratch / name / subject.study.key
        folder.mkdir(parents=True, exist_ok=True)
        files = subject.sample(name, chance)
        for each, text in files.items():
            (folder / each).write_text(text)
        return folder / name, files[name], lambda: READ[name](subject, folder / name)

    def _of_a_folder(
        self, name: str, chance: random.Random
    ) -> tuple[Path, str, Callable[[], object]]:
        known = (*config_dir().glob(f"protocols/*/{name}"), *config_dir().glob(f"queues/*/{name}"))
        own = chance.choice(sorted(known))

        def read() -> object:
            kind = QueueFolder if name == "queue.yaml" else ProtocolFolder
            return kind(own.parent).file

        return own, own.read_text(), read

    @cached_property
    def atlas(self) -> Atlas:
        """The atlas of all studies."""
        return Atlas(self.subjects)


def _too_long(number: int, frame: FrameType | None) -> None:
    raise TimeoutError


def main() -> int:
    """Read as many mutants of each kind of file as requested; returns whether there were faults."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    signal.signal(signal.SIGALRM, _too_long)
    warnings.simplefilter("error")  # users would see them
    faults = 0
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(repository_root() / "config", Path(name) / "config")
        os.environ["BDPBENCH_CONFIG"] = str(Path(name) / "config")
        subjects = [Subject(key) for key in study_keys()]
        fuzzer = Fuzzer(subjects, Path(name), given.seed)
        for each in (*READ, *ATLASES, *FOLDERS):
            began_s = time.process_time()
            counts, found = fuzzer.fuzz(each, given.mutants)
            faults += len(found)
            told = ", ".join(f"{count} {said}" for said, count in sorted(counts.items()))
            print(f"{each}: {told}; {time.process_time() - began_s:.0f} CPU s", flush=True)
            print(*found, sep="\n", end="\n" if found else "")
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main())
