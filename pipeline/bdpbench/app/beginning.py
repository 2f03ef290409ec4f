"""`bdpbench new`: studies, metrics, protocols and queues to begin with, which run as they are."""

from __future__ import annotations

import json
import keyword
import re
from pathlib import Path

from bdpbench.contracts.files import make_folders, write_text_atomically
from bdpbench.contracts.paths import config_dir, repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.studies.load import STUDY_NAME, find_study, read_study
from bdpbench.studies.named import check_is_new
from bdpbench.studies.queues import QUEUE_KINDS

# Folder of config/<kind>s that is copied, words in it that become the folder's name and its key,
# and what to do with it.
_COPIES = {
    "protocol": (
        "aimd",
        {"AIMD": "{name}", "Aimd": "{key}"},
        "{made}: edit law.cc; `./bdpbench evaluate {made} --quick` puts it beside all others,\n"
        "and a study uses it with protocols: {{{key}: {{folder: {quoted}}}}}",
    ),
    "queue": (
        "ecn_threshold",
        {"EcnThreshold": "{key}", "ECN threshold": "{name}", "ecn_threshold": "{name}"},
        "{made}: edit discipline.cc; `./bdpbench run {made}` puts it beside drop-tail and CoDel,\n"
        "and any study uses it with queues: {{{key}: {{folder: {quoted}}}}}",
    ),
}


def begin(kind: str, name: Path, study: str = "") -> str:
    """Write a study, a protocol or a queue into a new folder, or a metric beside a ``study.yaml``.

    Args:
        kind: study, metric, protocol or queue.
        name: the folder, whose name becomes the key; of a metric its name.
        study: key or folder of the study that gets the metric.

    Returns:
        What was written, and what to do with it.

    Raises:
        BdpbenchError: when the name is taken or cannot be one, as ``check_is_new``, or when the
            study has metrics of its own already.
    """
    own = name.resolve().name
    if not re.fullmatch(r"[a-z][a-z0-9_]*", own) or keyword.iskeyword(own):
        message = f"cannot be the name of a {kind}: use a-z, 0-9 and _, a letter first"
        raise BdpbenchError(message, where=str(name))
    if kind == "metric":
        from bdpbench.metrics import DEFINITIONS

        if own in DEFINITIONS:
            raise BdpbenchError("is a metric of bdpbench already", where=own, hint="choose another")
        path = _write(find_study(study) / "metrics.py", own)
        return f"{path}: edit it; `./bdpbench run {study}` measures it"
    key = own.title().replace("_", "")
    if kind == "queue" and key in QUEUE_KINDS:
        raise BdpbenchError("is a queue of bdpbench already", where=own, hint="choose another")
    check_is_new(name)
    if kind == "study":
        path = _write(name / STUDY_NAME, own)
        read_study(path.resolve())
        return f"{path}: edit it; `./bdpbench run {name}` simulates it"
    which, words, told = _COPIES[kind]
    new = {word: said.format(name=own, key=key) for word, said in words.items()}
    make_folders(name)
    for path in sorted((config_dir() / f"{kind}s" / which).iterdir()):
        text = path.read_text(encoding="utf-8")
        text = re.sub(rf"\b({'|'.join(new)})\b", lambda found: new[found[1]], text)
        write_text_atomically(name / path.name, text)
    if kind == "queue":
        read_study((name / STUDY_NAME).resolve())
    quoted = json.dumps(str(name.resolve()), ensure_ascii=False)  # YAML that any study can have
    return told.format(made=name, key=key, quoted=quoted)


def _write(path: Path, name: str) -> Path:
    """Write a skeleton with a name of its own."""
    if path.exists():
        raise BdpbenchError("exists already, and is left as it is", where=str(path))
    skeleton = repository_root() / "config" / "skeletons" / path.name
    text = skeleton.read_text(encoding="utf-8")
    write_text_atomically(path, re.sub(r"\bskeleton\b", name, text))
    return path
