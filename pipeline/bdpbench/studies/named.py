"""Which folder a word of the command line means: one rule for studies, protocols and queues."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from bdpbench.contracts.paths import config_dir, expanded
from bdpbench.errors import BdpbenchError


def named_folder(
    word: str | Path, configured: Sequence[Path], is_one: Callable[[Path], bool]
) -> Path | None:
    """The folder that a word means, or None.

    A path, and every text with a separator, leads from the current folder. Any other text is the
    name of a folder in the current one or in one of ``configured``.

    Raises:
        BdpbenchError: when several folders answer to the name.
    """
    is_name = isinstance(word, str) and os.sep not in word
    places = [place / word for place in configured] if is_name else []
    found: dict[Path, Path] = {}
    for place in (*places, expanded(Path(word))):
        if is_one(place):
            found.setdefault(place.resolve(), place)
    if len(found) > 1:
        paths = " and ".join(map(str, found))
        hint = "name one by its path, which contains a slash, or give one another name"
        raise BdpbenchError(f"{paths} have this name", where=str(word), hint=hint)
    return next(iter(found.values()), None)


def check_is_new(folder: Path) -> None:
    """Refuse to begin a study, a protocol or a queue in a folder.

    Raises:
        BdpbenchError: when it contains something, or when a folder of the configuration has its
            name, whatever that one is.
    """
    if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        hint = "choose another name: each study, protocol and queue has a folder of its own"
        raise BdpbenchError("exists already, and is left as it is", where=str(folder), hint=hint)
    kinds = ("studies", "protocols", "queues", "")
    for other in (config_dir() / kind / folder.resolve().name for kind in kinds):
        if other.exists() and other.resolve() != folder.resolve():
            hint = "choose another, so that a name means one folder"
            raise BdpbenchError(f"{other} has this name already", where=str(folder), hint=hint)
