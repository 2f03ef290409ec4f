"""What an archive keeps of the files that results were made from.

Of a user's folder these are exactly the files that were read. A folder may contain anything else,
such as a repository with a password in its configuration, so all others are named and left out.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from bdpbench.contracts.paths import config_dir, is_installed, package_dir, repository_root, tcl_dir
from bdpbench.metrics.measure import STUDY_METRICS_NAME, own_files
from bdpbench.pages.texts import MATRICES_NAME
from bdpbench.score.causes import CAUSES_NAME
from bdpbench.score.expectations import CLAIMS_NAME
from bdpbench.score.published import HISTORY_NAME, PUBLISHED_NAME
from bdpbench.score.spreads import SPREAD_NAME
from bdpbench.studies.atlas import ATLAS_NAME
from bdpbench.studies.evaluate import EVALUATE_NAME
from bdpbench.studies.folders import ComponentFolder
from bdpbench.studies.identity import tcl_files
from bdpbench.studies.load import STUDY_NAME, folders_of, script_path
from bdpbench.studies.study import REPETITIONS_NAME, Study

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
    r"\.(c|cc|css|csv|h|html|in|js|json|lock|md|patch|py|sh|smk|tcl|typed|yaml)$"
    r"|(^|/)(series|Snakefile)$"
)
# Results, and leftovers of Python and editors.
_LEFT_OUT = re.compile(r"reports/(published|evaluations)/|/(__pycache__/|[^/]+\.egg-info/|\.)")
_STUDY_NAMES = (
    STUDY_NAME,
    ATLAS_NAME,
    CAUSES_NAME,
    CLAIMS_NAME,
    EVALUATE_NAME,
    HISTORY_NAME,
    MATRICES_NAME,
    STUDY_METRICS_NAME,
    "NOTES.md",
    "page.yaml",
    PUBLISHED_NAME,
    REPETITIONS_NAME,
    SPREAD_NAME,
)


def common_sources() -> dict[str, bytes]:
    """The parts of the checkout that determine results, without the studies' configuration."""
    root, package = repository_root(), package_dir()
    tops = [(name, root / name) for name in _SOURCES]
    if is_installed():
        tops.append(("pipeline/bdpbench", package))
    found = {}
    for place, top in tops:
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            name = f"{place}/{path.relative_to(top).as_posix()}" if path != top else place
            is_shipped = top == package and path.is_relative_to(root)
            is_source = name == place or (_KINDS.search(name) and not _LEFT_OUT.search(name))
            if is_source and path.is_file() and not is_shipped:
                found[f"{SOURCE_FOLDER}/{name}"] = path.read_bytes()
    found[f"{SOURCE_FOLDER}/config/config.yaml"] = (config_dir() / "config.yaml").read_bytes()
    for name in ("CITATION.cff", "LICENSE"):  # where repositories look for them
        found[name] = (root / name).read_bytes()
    return found


def documents_of(folder: Path) -> list[Path]:
    """The files of a study that say what is run, judged and shown, with the code of its metrics."""
    named = {folder / name for name in _STUDY_NAMES if (folder / name).is_file()}
    code = own_files(folder) if folder / STUDY_METRICS_NAME in named else []
    return sorted(named.union(code))


def study_sources(study: Study, place: str) -> dict[str, bytes]:
    """The files of a study's folder that were read, and those of its protocols and queues.

    What else is beside ``study.yaml`` is named on standard error, and so is what was read
    elsewhere.

    Args:
        study: the study.
        place: path of its folder in the archive.
    """
    read = set(_read_of(study))
    for each in folders_of(study):
        if each.path.is_relative_to(study.folder):
            read |= set(each.files)
    known = (study.folder, tcl_dir())
    for path in sorted(each for each in read if not any(map(each.is_relative_to, known))):
        said = f"not in the archive, because it lies outside {study.folder}"
        print(f"{path}: {said}", file=sys.stderr)
    return _kept(study.folder, read, place)


def folder_sources(folder: ComponentFolder, place: str) -> dict[str, bytes]:
    """The files of a protocol's or queue's folder that were read; what else is there is named."""
    return _kept(folder.path, set(folder.files), place)


def _read_of(study: Study) -> Iterator[Path]:
    """The files that study, runs, values and report are made from, wherever they are."""
    yield from documents_of(study.folder)
    for scenario in study.scenarios.values():
        script = script_path(study, scenario.network or scenario.script)
        if script is not None and not script.is_relative_to(tcl_dir()):
            yield from (Path(os.path.normpath(each.absolute())) for each in tcl_files(script))


def _kept(folder: Path, read: Collection[Path], place: str) -> dict[str, bytes]:
    inside = [path for path in sorted(read) if path.is_relative_to(folder)]
    holding = {*inside, *(parent for path in inside for parent in path.parents)}
    if others := sorted(each.name for each in folder.iterdir() if each not in holding):
        said = f"not in the archive, because nothing has read it: {', '.join(others)}"
        print(f"{folder}: {said}", file=sys.stderr)
    names = (f"{SOURCE_FOLDER}/{place}/{path.relative_to(folder).as_posix()}" for path in inside)
    return {name: path.read_bytes() for name, path in zip(names, inside, strict=True)}
