"""`bdpbench new`: studies, metrics, protocols and queues to begin with, which run as they are."""

from __future__ import annotations

import json
import keyword
import os
import re
import shutil
from pathlib import Path

from bdpbench.contracts.files import make_folders, utf8_text, write_text_atomically
from bdpbench.contracts.paths import config_dir, repository_root
from bdpbench.errors import BdpbenchError
from bdpbench.studies.folders import ProtocolFolder
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


_OF_A_MODULE = """\
# A congestion control module of Linux, unchanged: {file}{origin}. Parameters are the module's own.
key: {key}
label: {own}
colour: "#7b3f00"
name: {own}, a module of Linux
summary: The module {file}{origin}, as it is.
"""


def begin(
    kind: str, name: Path, study: str = "", module: Path | None = None, linux: str = ""
) -> str:
    """Write a study, a protocol or a queue into a new folder, or a metric beside a ``study.yaml``.

    Args:
        kind: study, metric, protocol or queue.
        name: the folder, whose name becomes the key; of a metric its name.
        study: key or folder of the study that gets the metric.
        module: a module of Linux that the protocol is, as its file in C.
        linux: the name of one in the distribution's source package of Linux, such as cubic.

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
    if linux:
        from bdpbench.simulation.linux_files import module_of_linux

        module = module_of_linux(linux)
        return _begin_with(module, name, key, own, f" of {module.parent.name}")
    if module is not None:
        return _begin_with(module, name, key, own)
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


def linux_folder(name: str) -> Path:
    """The folder of a module of the distribution's Linux, which is made at its first use.

    Raises:
        BdpbenchError: as ``module_of_linux``.
    """
    from bdpbench.simulation.linux_files import module_of_linux

    module = module_of_linux(name)
    folder = module.parent / "protocols" / f"linux_{name}"
    if not folder.is_dir():
        new = folder.with_suffix(".new")  # complete, or not there
        shutil.rmtree(new, ignore_errors=True)
        of = f" of {module.parent.name}"
        _begin_with(module, new, f"Linux{name.title()}", f"Linux {name}", of)
        new.rename(folder)
    return folder


def _begin_with(module: Path, name: Path, key: str, own: str, origin: str = "") -> str:
    """Write the folder of a protocol that is a module of Linux, and compile it, or leave none."""
    from bdpbench.simulation import linux_files
    from bdpbench.simulation.build import library_list
    from bdpbench.simulation.libraries import compile_folder
    from bdpbench.simulation.linux_modules import PREFIX, parameters_of

    if module.suffix != ".c" or not module.is_file():
        raise BdpbenchError(
            "is no file of a module of Linux, such as tcp_mine.c", where=str(module)
        )
    if missing := linux_files.missing_headers(module):
        hint = (
            f"put them beside it, each with its .c file if there is one, from {module.name}'s Linux"
        )
        said = f"needs {' and '.join(missing)} beside it"
        raise BdpbenchError(said, where=str(module), hint=hint)
    text = _OF_A_MODULE.format(file=module.name, key=key, own=own, origin=origin)
    try:
        for place, file in linux_files.needed_files(module).items():
            make_folders((name / place).parent)
            write_text_atomically(name / place, utf8_text(file))
        write_text_atomically(name / ProtocolFolder.yaml_name, text)
        folder = ProtocolFolder(name.resolve())
        compile_folder(folder)
        meanings, declared = linux_files.meanings_of(module), parameters_of(module)
        known = linux_files.defaults_of(library_list(folder.name).with_suffix(".so"))
        rows = [
            f'  - {{symbol: {each}, variable: {PREFIX}{each}_, unit: "1", '
            f"default: {value},\n     meaning: {json.dumps(meanings.get(each) or each)}}}\n"
            for each, value in known.items()
            if each in declared
        ]
        text += ("parameters:\n" if rows else "") + "".join(rows)
        write_text_atomically(name / ProtocolFolder.yaml_name, text)
        compile_folder(ProtocolFolder(name.resolve()))
    except BdpbenchError:
        shutil.rmtree(name, ignore_errors=True)  # it was not there before
        raise
    quoted = json.dumps(str(name.resolve()), ensure_ascii=False)
    return (
        f"{name}: {module.name}{origin}; `./bdpbench evaluate {name} --quick` puts it beside all "
        f"others,\nand a study uses it with protocols: {{{key}: {{folder: {quoted}}}}}"
    )


def _write(path: Path, name: str) -> Path:
    """Write a skeleton with a name of its own."""
    if path.exists():
        raise BdpbenchError("exists already, and is left as it is", where=str(path))
    skeleton = repository_root() / "config" / "skeletons" / path.name
    text = skeleton.read_text(encoding="utf-8")
    schemas = os.path.relpath(repository_root() / "workflow", path.parent)
    text = text.replace("../../workflow", schemas)
    write_text_atomically(path, re.sub(r"\bskeleton\b", name, text))
    return path
