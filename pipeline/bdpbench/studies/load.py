"""Find, read and check a study: first by the models, then as a whole."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from bdpbench.contracts.paths import config_dir, expanded
from bdpbench.contracts.yaml_files import YamlFile, meant, suggest
from bdpbench.errors import BdpbenchError
from bdpbench.studies.checks import check_study, why_not_replaced
from bdpbench.studies.component_folders import ComponentFolder
from bdpbench.studies.protocol_folders import ProtocolFolder, fill_protocols
from bdpbench.studies.queue_folders import QueueFolder, fill_queues
from bdpbench.studies.study import Study

STUDY_NAME = "study.yaml"
_RECOVER_HINT = "`./bdpbench recover THESIS -o DIR` writes a folder with all scripts"


def studies_dir() -> Path:
    """Folder of the configured studies."""
    return config_dir() / "studies"


def study_keys() -> list[str]:
    """Keys of the configured studies, sorted."""
    return sorted(path.parent.name for path in studies_dir().glob(f"*/{STUDY_NAME}"))


def find_study(name_or_path: str | Path) -> Path:
    """Folder of a study, given the key of a configured one or a path.

    Raises:
        BdpbenchError: when there is no such study, with a suggestion.
    """
    keys = study_keys()
    if str(name_or_path) in keys:
        return studies_dir() / name_or_path
    folder = expanded(Path(name_or_path))
    folder = folder.parent if folder.name == STUDY_NAME else folder
    if (folder / STUDY_NAME).is_file():
        return _outside(folder.resolve(), keys)
    if folder.is_dir() or os.sep in str(name_or_path):
        raise BdpbenchError(
            f"no {STUDY_NAME} in this folder",
            where=str(folder),
            hint="a study is a folder that contains one",
        )
    key = meant(str(name_or_path), keys)
    if key is not None:
        return studies_dir() / key
    raise BdpbenchError(
        f"unknown study {str(name_or_path)!r}",
        where=str(studies_dir()),
        hint=f"{suggest(str(name_or_path), keys)}; a study of your own is named by its folder, and "
        "`./bdpbench new study NAME` makes one",
    )


def _outside(folder: Path, keys: list[str]) -> Path:
    """The folder that a path names; refused if its results would overwrite another study's."""
    if folder.name in keys and folder != (studies_dir() / folder.name).resolve():
        raise BdpbenchError(
            f"{folder.name} is the key of a configured study, whose results these would replace",
            where=str(folder),
            hint="choose another name for the folder and for key: in its study.yaml",
        )
    return folder


def load_study(name_or_path: str | Path, scripts: Path | None = None) -> Study:
    """Read and check a study.

    Args:
        name_or_path: its key, or its folder.
        scripts: folder of original scripts that replace those of every scenario with ``original:``.

    Raises:
        BdpbenchError: for an unknown study, or naming file, line and key of what is wrong.
    """
    study = read_study(find_study(name_or_path) / STUDY_NAME)
    return study if scripts is None else _with_scripts_of(study, expanded(scripts).resolve())


def folders_of(study: Study) -> list[ComponentFolder]:
    """The protocols and queues of a study that are folders, each folder once."""
    protocols = dict.fromkeys(each.folder for each in study.protocols.values() if each.folder)
    queues = dict.fromkeys(each.folder for each in study.queues.values() if each.folder)
    return [
        *(ProtocolFolder(Path(path)) for path in protocols),
        *(QueueFolder(Path(path)) for path in queues),
    ]


def read_study(path: Path) -> Study:
    """Read and check one ``study.yaml``; an unchanged file is read only once."""
    try:
        status = path.stat()
    except OSError:
        raise BdpbenchError("no such file", where=str(path)) from None
    return _read(path, (status.st_mtime_ns, status.st_size, status.st_ino))


@lru_cache(maxsize=16)
def _read(path: Path, _state: tuple[int, int, int]) -> Study:
    source = YamlFile(path)
    fill_protocols(source)
    fill_queues(source)
    study = source.validate(Study).read_from(source)
    if study.key != path.parent.name:
        raise source.error(("key",), f"expected {path.parent.name!r}, the name of the folder")
    check_study(study)
    return _with_own_scripts(study)


def _with_own_scripts(study: Study) -> Study:
    """The study with the ``scripts`` of its scenarios as absolute paths, checked."""
    folders = {}
    for name, scenario in study.scenarios.items():
        if scenario.scripts is not None:
            folder = (study.folder / expanded(Path(scenario.scripts))).resolve()
            reason = why_not_replaced(folder, scenario)
            if reason:
                raise study.error(("scenarios", name, "scripts"), reason, hint=_RECOVER_HINT)
            folders[name] = folder
    return _with_scripts(study, folders)


def _with_scripts_of(study: Study, folder: Path) -> Study:
    """The study with the scripts of one folder in all scenarios that those scripts can run."""
    reasons = {
        name: why_not_replaced(folder, scenario) for name, scenario in study.scenarios.items()
    }
    fit = {name: folder for name, reason in reasons.items() if reason is None}
    if not fit:
        reason = next(iter(reasons.values()))
        raise BdpbenchError(f"{reason}", where="--scripts", hint=_RECOVER_HINT)
    return _with_scripts(study, fit)


def _with_scripts(study: Study, folders: dict[str, Path]) -> Study:
    scenarios = {
        name: scenario.model_copy(update={"scripts": str(folders[name])})
        if name in folders
        else scenario
        for name, scenario in study.scenarios.items()
    }
    return study.model_copy(update={"scenarios": scenarios})
