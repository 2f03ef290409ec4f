"""``originals.yaml``: which scripts a study prints, and what is particular to their recovery.

A study whose authors printed their ns-2 scripts describes them there: the headings under which they
stand, the file names that they get, and the names by which damage in them is recognised.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from bdpbench.contracts.yaml_files import YamlFile

ORIGINALS_NAME = "originals.yaml"

Key = Annotated[str, Field(pattern=r"^([A-Z]|[1-9][0-9]*)$")]
ScriptName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+\.tcl$")]
Name = Annotated[str, Field(pattern=r"^\w+$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class Helper(_Strict):
    """A file that printed scripts source but the study does not print."""

    file: ScriptName = Field(description="Name under which the scripts source it")
    path: Annotated[str, Field(pattern=r"^[A-Za-z0-9_/-]+\.tcl$")] = Field(
        description="Where ours lies, under tcl/"
    )
    variables: list[Name] = Field(
        default_factory=list,
        description="Global variables that it takes from the script that sources it",
    )


class Originals(_Strict):
    """The scripts that a study prints.

    ``heading`` and ``headings`` are the word before a script's key, singular and plural, e.g.
    *Appendix* and *Appendices*; a heading stands alone on its line.
    """

    schema_version: Literal[1]
    document: str = Field(min_length=1, description="What is printed, in a word, e.g. thesis")
    citation: str = Field(min_length=1, description="Whose it is, as a sentence names it")
    heading: str = Field(min_length=1, description="Word before the key of a script")
    headings: str = Field(min_length=1, description="The same for several scripts")
    scripts: dict[Key, ScriptName] = Field(
        min_length=1,
        description="Key after the heading → file name; the scripts of bdpbench for the same "
        "experiments are named alike",
    )
    helper: Helper | None = None
    output_files: list[str] = Field(
        default_factory=list, description="Files that the scripts write, by their right names"
    )
    inherited: str = Field(
        "{name} is set in some passes of the loop only, so that another pass inherits the value "
        "of the one before; left as it is",
        pattern=r"\{name\}",
        description="Note on a variable {name} that a pass of a loop inherits from the one before",
    )

    def title(self, key: str) -> str:
        """The name of a script in messages, e.g. ``Appendix A``."""
        return f"{self.heading} {key}"

    @property
    def helper_file(self) -> str:
        """Name of the helper, "" if there is none."""
        return self.helper.file if self.helper else ""

    @property
    def helper_variables(self) -> frozenset[str]:
        """Variables that the helper takes from the script that sources it."""
        return frozenset(self.helper.variables) if self.helper else frozenset()


def load_originals(path: Path) -> Originals:
    """Read and check ``originals.yaml``.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    source = YamlFile(path)
    originals = source.validate(Originals)
    taken = {originals.helper_file: "helper"}
    for key, name in originals.scripts.items():
        if name in taken:
            raise source.error(("scripts", key), f"{name} is the name of {taken[name]} already")
        taken[name] = originals.title(key)
    return originals
