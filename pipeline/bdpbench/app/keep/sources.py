"""What an archive keeps of the files that results were made from.

Of a user's folder these are exactly the files that were read. A folder may contain anything else,
such as a repository with a password in its configuration, so all others are named and left out.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from bdpbench.contracts.paths import config_dir, is_installed, package_dir, repository_root, tcl_dir
from bdpbench.metrics.measure import STUDY_METRICS_NAME, own_files
from bdpbench.pages.matrices import MATRICES_NAME
from bdpbench.score.expectations import CLAIMS_NAME
from bdpbench.score.published import HISTORY_NAME, PUBLISHED_NAME
from bdpbench.score.spreads import SPREAD_NAME
from bdpbench.studies.atlas import ATLAS_NAME
from bdpbench.studies.evaluate import EVALUATE_NAME
from bdpbench.studies.folders import ComponentFolder
from bdpbench.studies.identity import tcl_files
from bdpbench.studies.load import STUDY_NAME, folders_of, script_path
from bdpbench.studies.study import Study

SOURCE_FOLDER = "source"
"""Folder of what results were made from."""

RESULT_SOURCES = ("pipeline", "ns2", "tcl", "workflow", "reports", "Snakefile")
"""The parts of the checkout that determine results and reports, except configuration."""

_SOURCES = (
    *RESULT_SOURCES,
    ".dockerignore",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "Dockerfile",
    "LICENSE",
    "README.md",
    "bdpbench",
    "pyproject.toml",
)
# Kinds of files of these folders; "series" lists the patches.
_KINDS = re.compile(
    r"\.(c|cc|css|csv|h|html|in|js|json|lock|md|patch|py|sh|smk|tcl|typed|yaml)$|(^|/)series$"
)
# Results, pictures of them, and leftovers of Python and editors, which need not be named.
_RESULTS = re.compile(
    r"reports/((published|evaluations)/|[^/]+\.png$)|(^|/)(__pycache__|[^/]+\.egg-info)/|~$"
)
_STUDY_NAMES = (
    STUDY_NAME,
    ATLAS_NAME,
    CLAIMS_NAME,
    EVALUATE_NAME,
    HISTORY_NAME,
    MATRICES_NAME,
    STUDY_METRICS_NAME,
    "NOTES.md",
    "page.yaml",
    PUBLISHED_NAME,
    SPREAD_NAME,
)
_SHOWN = 12


def common_sources() -> Iterator[tuple[str, bytes]]:
    """The parts of the checkout that determine results, without the studies' configuration."""
    others = []
    for name, path in _source_files():
        if name in _SOURCES or (_KINDS.search(name) and "/." not in name):
            yield f"{SOURCE_FOLDER}/{name}", path.read_bytes()
        else:
            others.append(name)
    _tell(repository_root(), others)
    yield f"{SOURCE_FOLDER}/config/config.yaml", (config_dir() / "config.yaml").read_bytes()
    for name in ("CITATION.cff", "LICENSE"):  # where repositories look for them
        yield name, (repository_root() / name).read_bytes()


def _source_files() -> Iterator[tuple[str, Path]]:
    """Files of bdpbench by their names in the repository, sorted within each folder."""
    root, package = repository_root(), package_dir()
    tops = [(name, root / name) for name in _SOURCES]
    if is_installed():
        tops.append(("pipeline/bdpbench", package))
    for place, top in tops:
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            name = f"{place}/{path.relative_to(top).as_posix()}" if path != top else place
            is_shipped = top == package and path.is_relative_to(root)
            if path.is_file() and not is_shipped and not _RESULTS.search(name):
                yield name, path


def documents_of(folder: Path) -> list[Path]:
    """The files of a study that say what is run, judged and shown, with the code of its metrics."""
    named = {folder / name for name in _STUDY_NAMES if (folder / name).is_file()}
    code = own_files(folder) if folder / STUDY_METRICS_NAME in named else []
    return sorted(named.union(code))


def study_sources(study: Study, place: str) -> Iterator[tuple[str, bytes]]:
    """The files of a study's folder that were read, and those of its protocols and queues.

    What else is in these folders is named on standard error, and so is what was read elsewhere.

    Args:
        study: the study.
        place: path of its folder in the archive.
    """
    read = set(_read_of(study))
    for each in folders_of(study):
        if each.path.is_relative_to(study.folder):
            read |= set(each.files)
    yield from _kept(study.folder, read, place)
    known = (study.folder, tcl_dir())
    for path in sorted(each for each in read if not any(map(each.is_relative_to, known))):
        print(
            f"{path}: is not in the archive, because it lies outside {study.folder}",
            file=sys.stderr,
        )


def folder_sources(folder: ComponentFolder, place: str) -> Iterator[tuple[str, bytes]]:
    """The files of a protocol's or queue's folder that were read; what else is there is named."""
    yield from _kept(folder.path, set(folder.files), place)


def _read_of(study: Study) -> Iterator[Path]:
    """The files that study, runs, values and report are made from, wherever they are."""
    folder = study.folder
    yield from documents_of(folder)
    for scenario in study.scenarios.values():
        script = script_path(study, scenario.network or scenario.script)
        if script is not None and not script.is_relative_to(tcl_dir()):
            yield from map(_absolute, tcl_files(script))


def _absolute(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))


def _kept(folder: Path, read: Collection[Path], place: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(read):
        if path.is_relative_to(folder):
            yield (
                f"{SOURCE_FOLDER}/{place}/{path.relative_to(folder).as_posix()}",
                path.read_bytes(),
            )
    _tell(folder, list(_others(folder, read)))


def _others(folder: Path, read: Collection[Path]) -> Iterator[str]:
    """What was not read, with a folder of which nothing was as one."""
    holding = {parent for path in read for parent in path.parents}
    for top, folders, files in os.walk(folder):
        inside = [Path(top, name) for name in folders]
        folders[:] = [each.name for each in inside if each in holding]
        yield from (f"{each.relative_to(folder)}/" for each in inside if each not in holding)
        found = (Path(top, name) for name in files)
        yield from (str(each.relative_to(folder)) for each in found if each not in read)


def _tell(folder: Path, others: Sequence[str]) -> None:
    if others:
        names = sorted(others)
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        said = "is not in the archive, because nothing has read it"
        print(f"{folder}: {', '.join(names[:_SHOWN])}{more} {said}", file=sys.stderr)
