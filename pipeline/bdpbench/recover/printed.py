"""What a study prints: its ``originals.yaml``, a reader's copy, and the scripts found in it.

A study whose authors printed their ns-2 scripts describes them in ``originals.yaml``: the headings
under which they stand, the file names that they get, and the names by which damage is recognised.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from bdpbench.contracts.yaml_files import Strict, YamlFile
from bdpbench.errors import BdpbenchError

ORIGINALS_NAME = "originals.yaml"

Key = Annotated[str, Field(pattern=r"^([A-Z]|[1-9][0-9]*)$")]
ScriptName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+\.tcl$")]
Name = Annotated[str, Field(pattern=r"^\w+$")]
Word = Annotated[str, Field(min_length=1)]

_PDF_MAGIC = b"%PDF-"
_PDFTOTEXT = ("pdftotext", "-layout", "-enc", "UTF-8")
_AFTERWARDS = re.compile(r"^[\s\f#*]*(references|bibliography)[\s:*]*$", re.IGNORECASE)


class Helper(Strict):
    """A file that printed scripts source but the study does not print.

    Attributes:
        file: name under which the scripts source it.
        path: where ours lies, under ``tcl/``.
        variables: global variables that it takes from the script that sources it.
    """

    file: ScriptName
    path: Annotated[str, Field(pattern=r"^[A-Za-z0-9_/-]+\.tcl$")]
    variables: list[Name] = Field(default_factory=list)


class Originals(Strict):
    """The scripts that a study prints.

    Attributes:
        document: what is printed, in a word, e.g. thesis.
        citation: whose it is, as a sentence names it.
        heading, headings: the word before a script's key, singular and plural, e.g. *Appendix* and
            *Appendices*; a heading stands alone on its line.
        scripts: key after the heading → file name; the scripts of bdpbench for the same experiments
            are named alike.
        helper: a file that they source.
        output_files: files that the scripts write, by their right names.
        inherited: note on a variable {name} that a pass of a loop inherits from the one before.
    """

    schema_version: Literal[1]
    document: Word
    citation: Word
    heading: Word
    headings: Word
    scripts: dict[Key, ScriptName] = Field(min_length=1)
    helper: Helper | None = None
    output_files: list[str] = Field(default_factory=list)
    inherited: Annotated[str, Field(pattern=r"\{name\}")] = (
        "{name} is set in some passes of the loop only, so that another pass inherits the value of"
        " the one before; left as it is"
    )

    def title(self, key: str) -> str:
        """The name of a script in messages, e.g. ``Appendix A``."""
        return f"{self.heading} {key}"

    def titles(self, keys: list[str]) -> str:
        """The names of several scripts in messages, e.g. ``Appendices A, B``."""
        return f"{self.heading if len(keys) == 1 else self.headings} {', '.join(keys)}"


def load_originals(path: Path) -> Originals:
    """Read and check ``originals.yaml``.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    source = YamlFile(path)
    originals = source.validate(Originals)
    taken = {originals.helper.file: "helper"} if originals.helper else {}
    for key, name in originals.scripts.items():
        if name in taken:
            raise source.error(("scripts", key), f"{name} is the name of {taken[name]} already")
        taken[name] = originals.title(key)
    return originals


# ---------------------------------------------------------------- the reader's copy


@dataclass(frozen=True)
class Document:
    """The text of a copy.

    Attributes:
        path: the copy.
        kind: ``text``, or ``pdf`` if the lines are those of ``pdftotext -layout``.
        lines: text of each line, starting with line 1.
    """

    path: Path
    kind: str
    lines: tuple[str, ...]


def read_document(path: Path, noun: str) -> Document:
    """Read a copy of a study; ``noun`` is its name in messages, e.g. ``thesis``.

    Raises:
        BdpbenchError: when it is missing, neither text nor PDF, or a PDF without text, and when
            pdftotext is missing.
    """
    expected = f"expected the text of the {noun} (UTF-8) or its PDF"
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BdpbenchError(f"no such file: {expected}", where=str(path)) from None
    except OSError as error:
        raise BdpbenchError(f"cannot be read: {error.strerror}", where=str(path)) from None
    is_pdf = content.startswith(_PDF_MAGIC)
    text = _text_of_pdf(path, noun) if is_pdf else _decoded(path, content, expected)
    # Not splitlines(): a form feed starts a page inside a line and must not count as one.
    lines = tuple(line.rstrip("\r") for line in text.split("\n"))
    return Document(path, "pdf" if is_pdf else "text", lines)


def _decoded(path: Path, content: bytes, expected: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        said = f"is neither UTF-8 text nor a PDF: {expected}"
        raise BdpbenchError(said, where=str(path)) from None
    if "\0" in text:
        raise BdpbenchError(f"is a binary file: {expected}", where=str(path))
    return text


def _text_of_pdf(path: Path, noun: str) -> str:
    try:
        done = subprocess.run([*_PDFTOTEXT, str(path), "-"], capture_output=True, check=False)
    except FileNotFoundError:
        raise BdpbenchError(
            "pdftotext, which reads PDFs, is not installed",
            where=str(path),
            hint=f"run apt-get install poppler-utils, or give the text of the {noun}",
        ) from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise BdpbenchError(f"pdftotext cannot read this PDF: {said[-1]}", where=str(path))
    text = done.stdout.decode("utf-8", "replace")
    if not text.strip():
        raise BdpbenchError(
            "this PDF contains images of pages and no text",
            where=str(path),
            hint="run text recognition first (for example with ocrmypdf)",
        )
    return text


# ---------------------------------------------------------------- the scripts in it


class Line(NamedTuple):
    """A line of a script: its text, and the line of the copy on which it starts."""

    number: int
    text: str


class Repair(NamedTuple):
    """One change of one line.

    Attributes:
        rule: id of the rule that made the change.
        line: line of the copy.
        before, after: the text; ``after`` is None for a line that was removed.
        why: reason for the change.
    """

    rule: str
    line: int
    before: str
    after: str | None
    why: str


class Note(NamedTuple):
    """A fault of the original, which is kept: the line where it shows, and its effect."""

    line: int
    text: str


@dataclass
class Script:
    """A script, first as printed in the copy, from its first comment to its last line.

    Attributes:
        title: its heading, e.g. ``Appendix A``.
        name: its file name.
        lines: its lines, with the lines of the copy on which they start.
        repairs: the changes.
        notes: faults of the original.
    """

    title: str
    name: str
    lines: list[Line]
    repairs: list[Repair] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Content of the file."""
        return "\n".join(line.text.rstrip() for line in self.lines) + "\n"


def find_scripts(document: Document, originals: Originals) -> list[Script]:
    """The scripts that ``originals`` lists.

    Raises:
        BdpbenchError: when the text has none of them, lacks one, or one has no listing.
    """
    found = _headings(document, originals)
    if not found:
        first, *others = (f"'{originals.title(key)}'" for key in originals.scripts)
        lines = f"lines {first} to {others[-1]}, each" if others else f"a line {first}"
        raise BdpbenchError(
            f"has no {originals.headings.lower()}: expected {lines} before a Tcl"
            f" script, as in {originals.citation}",
            where=str(document.path),
        )
    missing = [key for key in originals.scripts if key not in found]
    if missing:
        raise BdpbenchError(
            f"lacks {originals.titles(missing)}: it has {originals.titles(sorted(found))}",
            where=str(document.path),
            hint=f"take a complete copy of the {originals.document}",
        )
    return [_script(document, originals, key, found) for key in originals.scripts]


def _headings(document: Document, originals: Originals) -> dict[str, int]:
    """Key → index of its heading; the last one counts, since the table of contents comes first.

    A heading stands alone on its line; the table of contents has a title or page number beside it.
    """
    keys = r"[A-Z]" if all(key.isalpha() for key in originals.scripts) else r"[A-Z]|[0-9]+"
    heading = re.compile(
        rf"^[\s\f#*]*{re.escape(originals.heading)}\s+({keys})[\s.:*]*$", re.IGNORECASE
    )
    return {
        match.group(1).upper(): index
        for index, text in enumerate(document.lines)
        if (match := heading.match(text))
    }


def _script(document: Document, originals: Originals, key: str, headings: dict[str, int]) -> Script:
    begin, total = headings[key] + 1, len(document.lines)
    end = min((index for index in headings.values() if index >= begin), default=total)
    ends = (index for index in range(begin, end) if _AFTERWARDS.match(document.lines[index]))
    end = next(ends, end)
    starts = (i for i in range(begin, end) if document.lines[i].lstrip().startswith("#"))
    start = next(starts, None)
    if start is None:
        raise BdpbenchError(
            f"no Tcl script follows the heading of {originals.title(key)}",
            where=f"{document.path}:{begin}",
            hint=f"take a complete copy of the {originals.document}",
        )
    lines = [Line(index + 1, document.lines[index]) for index in range(start, end)]
    return Script(originals.title(key), originals.scripts[key], lines)
