"""`bdpbench new`: studies, metrics, protocols and queues to begin with, which run as they are."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from pathlib import Path

from bdpbench.contracts.files import make_folders, write_text_atomically
from bdpbench.contracts.paths import config_dir, repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import STUDY_NAME, find_study, read_study
from bdpbench.studies.named import check_is_new
from bdpbench.studies.queues import QUEUE_KINDS

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_METRICS_NAME = "metrics.py"


def begin_study(folder: Path) -> Path:
    """Write the skeleton of a study into a folder, which is made if necessary.

    Raises:
        BdpbenchError: when the name of the folder cannot be a key, and as ``check_is_new``.
    """
    key = folder.resolve().name
    _check_name(key, "a study", str(folder))
    check_is_new(folder)
    path = _write(folder / STUDY_NAME, key)
    read_study(path.resolve())
    return path


def begin_metric(name: str, study: str) -> Path:
    """Write a metric with this name beside the ``study.yaml`` of a study.

    Raises:
        BdpbenchError: when the name is taken or cannot be a function's, or the study has metrics of
            its own already.
    """
    from bdpbench.metrics import DEFINITIONS

    _check_name(name, "a metric", name)
    if name in DEFINITIONS:
        raise BdpbenchError("is a metric of bdpbench already", where=name, hint="choose another")
    return _write(find_study(study) / _METRICS_NAME, name)


def begin_protocol(folder: Path) -> Path:
    """Copy the folder of AIMD, under a name of its own, to begin a protocol with.

    Raises:
        BdpbenchError: when the name cannot be a key, and as ``check_is_new``.
    """
    return _copy("protocol", "aimd", {"AIMD": "{name}", "Aimd": "{key}"}, folder)


def begin_queue(folder: Path) -> Path:
    """Copy the queue with a threshold and its study, under a name of its own, to begin one with.

    Raises:
        BdpbenchError: when the name cannot be a key, or is that of a queue of bdpbench, and as
            ``check_is_new``.
    """
    words = {"EcnThreshold": "{key}", "ECN threshold": "{name}", "ecn_threshold": "{name}"}
    if key_of(folder) in QUEUE_KINDS:
        raise BdpbenchError(
            "is a queue of bdpbench already", where=folder.name, hint="choose another"
        )
    made = _copy("queue", "ecn_threshold", words, folder)
    read_study((made / STUDY_NAME).resolve())
    return made


def _copy(kind: str, which: str, words: Mapping[str, str], folder: Path) -> Path:
    """Copy a folder of ``config/<kind>s`` with other words: ``{name}`` of the folder, ``{key}``."""
    name = folder.resolve().name
    _check_name(name, f"a {kind}", str(folder))
    check_is_new(folder)
    own = {word: said.format(name=name, key=key_of(folder)) for word, said in words.items()}
    pattern = re.compile(rf"\b({'|'.join(own)})\b")
    for path in sorted((config_dir() / f"{kind}s" / which).iterdir()):
        text = pattern.sub(lambda found: own[found[1]], path.read_text(encoding="utf-8"))
        make_folders(folder)
        write_text_atomically(folder / path.name, text)
    return folder


def key_of(folder: Path) -> str:
    """The key that a protocol or a queue in such a folder gets."""
    return folder.resolve().name.title().replace("_", "")


def _check_name(name: str, what: str, where: str) -> None:
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        message = f"cannot be the name of {what}: use a-z, 0-9 and _, a letter first"
        raise BdpbenchError(message, where=where)


def _write(path: Path, name: str) -> Path:
    """Write a skeleton with a name of its own."""
    if path.exists():
        raise BdpbenchError("exists already, and is left as it is", where=str(path))
    skeleton = repository_root() / "config" / "skeletons" / path.name
    text = skeleton.read_text(encoding="utf-8")
    write_text_atomically(path, re.sub(r"\bskeleton\b", name, text))
    return path
