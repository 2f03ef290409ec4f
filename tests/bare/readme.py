"""What a reader of the README does, in its order, for `prove.sh`.

    python readme.py README.md FOLDER

prints a line for each command: the lines of blocks of shell without their comments, and those that
a paragraph has as code (`./bdpbench test`). A block of YAML that a paragraph says to "save as" a
file is written below FOLDER; the line `save FILE` comes before the commands of that paragraph.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`]+)`")
_SAVED = re.compile(r"save this as `([^`]+)`")


def steps(text: str, folder: Path) -> Iterator[str]:
    """The commands, and `save FILE` for each file, which is written below ``folder``."""
    end = 0
    for block in _BLOCK.finditer(text):
        kind, content = block.groups()
        paragraphs = text[end : block.start()]
        end = block.end()
        saved = _SAVED.search(_in_one_line(paragraphs)) if kind == "yaml" else None
        if saved is not None:
            made = folder / saved[1]
            made.parent.mkdir(parents=True, exist_ok=True)
            made.write_text(content, encoding="utf-8")
            yield f"save {saved[1]}"
        yield from _commands(paragraphs)
        if kind == "sh":
            lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in content.splitlines())
            yield from filter(None, lines)
    yield from _commands(text[end:])


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _commands(paragraphs: str) -> Iterator[str]:
    for code in _CODE.findall(_in_one_line(paragraphs)):
        if code.startswith("./bdpbench "):
            yield code


if __name__ == "__main__":
    for step in steps(Path(sys.argv[1]).read_text(encoding="utf-8"), Path(sys.argv[2])):
        print(step)
