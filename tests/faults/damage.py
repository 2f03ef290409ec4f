"""Damages files of a finished tier, one at a time: each command repairs the damage or refuses it.

    BDPBENCH_HOME=.bdpbench PYTHONPATH=pipeline:. python tests/faults/damage.py [PART OF A NAME ...]

What a command that ends well has printed and written must be what it is without the damage. One
that fails must say so in one message that names the file. `run` then has to make everything again,
if need be after the damaged file was removed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from subprocess import CompletedProcess

from tests.app.conftest import call_here, write_config

STUDY, TIER = "dumbbell", "quick"
# A run without its record counts as not run; `run` sees other damage to these files, and says so.
_NOT_RUN = ("gone", "folder", "link to nothing")
_TOLD = ("run.json", "out/", "metrics.", "scorecard.json", "report.html")


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _replace(put: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.unlink()
        put(path)

    return damage


DAMAGES: Mapping[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "flipped": _flip,
    "folder": _replace(lambda path: (path / "inside").mkdir(parents=True)),
    "link to nothing": _replace(lambda path: path.symlink_to("nothing")),
}


def call(config: Path, results: Path, *arguments: str) -> CompletedProcess[str]:
    """Call the command line in this process; exceptions other than its own are raised."""
    places = {"BDPBENCH_CONFIG": str(config), "BDPBENCH_RESULTS": str(results)}
    return call_here(places, *arguments)


def files_of(results: Path) -> Iterator[str]:
    """The files of a tier and of one of its runs, unless they are empty."""
    tier, run = results / STUDY / TIER, min(results.glob("runs/*/*"))
    for path in sorted([*tier.rglob("*"), *run.rglob("*"), *results.iterdir()]):
        if path.is_file() and path.stat().st_size and ".snakemake" not in path.parts:
            yield path.relative_to(results).as_posix()


def made_in(results: Path) -> dict[str, str]:
    """SHA-256 of everything that follows from the configuration alone."""
    tier = results / STUDY / TIER
    made = [tier / name for name in ("metrics.parquet", "metrics.csv", "scorecard.json")]
    return {
        path.relative_to(results).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in [*made, *sorted(results.glob("runs/*/*/out/*"))]
    }


class Case:
    """A finished tier in a folder of its own, with one damaged file."""

    def __init__(self, config: Path, whole: Path, folder: Path, name: str, damage: str) -> None:
        self._config, self._whole, self._results = config, whole, folder / "results"
        self._page, self._name = folder / "page.html", name
        self._is_run = not (name.endswith("run.json") and damage in _NOT_RUN)
        shutil.copytree(whole, self._results)
        self._path = self._results / name
        DAMAGES[damage](self._path)
        if "/out/" in name:  # it is read again only to make tables
            (self._path.parents[1] / "tables" / "manifest.json").unlink()

    def faults(self) -> Iterator[str]:
        """What is wrong with the answers of all commands."""
        yield from self._faults_of("check")
        yield from self._faults_of("compare", ".")
        if self._is_run:
            yield from self._faults_of("report", "-o", str(self._page))
        damaged = not self._path.is_file() or self._path.read_bytes() != self._bytes()
        done = self._call("run", "--backend", "native")
        if done.returncode:
            yield from self._faults_of_refusal("run", done)
            shutil.rmtree(self._path)
            done = self._call("run", "--backend", "native")
        elif damaged and self._is_told() and str(self._path) not in done.stdout:
            yield f"run does not say that the file was damaged: {done.stdout}"
        if done.returncode or made_in(self._results) != made_in(self._whole):
            yield f"run: status {done.returncode}, or other results: {done.stderr}"

    def _is_told(self) -> bool:
        return self._is_run and any(part in self._name for part in _TOLD)

    def _bytes(self) -> bytes:
        return (self._whole / self._name).read_bytes()

    def _call(self, *arguments: str) -> CompletedProcess[str]:
        return call(self._config, self._results, *arguments)

    def _faults_of(self, *arguments: str) -> Iterator[str]:
        tiers = [str(each / STUDY / TIER) for each in (self._whole, self._results)]
        arguments = ("compare", *tiers) if arguments[0] == "compare" else arguments
        done = self._call(*arguments)
        if done.returncode:
            yield from self._faults_of_refusal(arguments[0], done)
            return
        with tempfile.TemporaryDirectory() as name:
            page = Path(name) / self._page.name
            last = str(page) if arguments[0] == "report" else arguments[-1]
            last = tiers[0] if arguments[0] == "compare" else last
            wanted = call(self._config, self._whole, *arguments[:-1], last)
            if done.stdout.replace(arguments[-1], last) != wanted.stdout:
                yield f"{arguments[0]}: {done.stdout}"
            if arguments[0] == "report" and self._page.read_bytes() != page.read_bytes():
                yield "report: another page"

    def _faults_of_refusal(self, command: str, done: CompletedProcess[str]) -> Iterator[str]:
        named = str(self._path) in done.stderr or str(self._path.parent) in done.stderr
        if done.stderr.count("error: ") != 1 or not named:
            yield f"{command}: {done.stderr}"


def faults_of(config: Path, whole: Path, name: str, damage: str) -> list[str]:
    """What is wrong with the answers to one damaged file."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return list(Case(config, whole, Path(folder), name, damage).faults())
        except Exception as error:  # a traceback in front of the user
            return [f"{type(error).__name__}: {error}"]


def main() -> int:
    """Damage the files that are named in part, or all; returns the number of cases with faults."""
    wrong = cases = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_config(folder)
        config, whole = folder / "config", folder / "results"
        done = call(config, whole, "run", "--backend", "native")
        assert done.returncode == 0, done.stderr
        for file in files_of(whole):
            if sys.argv[1:] and not any(part in file for part in sys.argv[1:]):
                continue
            for damage in DAMAGES:
                faults = faults_of(config, whole, file, damage)
                cases, wrong = cases + 1, wrong + bool(faults)
                print(f"{file}, {damage}: {'; '.join(faults) or 'no fault'}", flush=True)
    print(f"{wrong} of {cases} cases have faults")
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(), 1))
