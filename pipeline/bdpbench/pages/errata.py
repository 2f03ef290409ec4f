"""``reports/errata.yaml``: known faults of laws in ns-2, told wherever such a law is used."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.yaml_files import Strict, YamlFile
from bdpbench.pages.texts import Text
from bdpbench.studies.parts import Protocol


class Erratum(Strict):
    """A fault that changes what a law does, and that is kept.

    Attributes:
        title: of the entry.
        agents: ns-2 agent classes that have it, without "Agent/".
        modules: modules of TCP/Linux that have it; empty if it is one of the agent itself.
        text: what is wrong, and what would be right.
        effect: what was measured, with its path.
        source: files that show it.
    """

    title: Text
    agents: list[Text] = Field(min_length=1)
    modules: list[Text] = Field(default_factory=list)
    text: Text
    effect: Text
    source: Text

    def concerns(self, protocol: Protocol) -> bool:
        """Whether a protocol of a study has it."""
        named = not self.modules or protocol.linux in self.modules
        return protocol.agent in self.agents and named


class Errata(Strict):
    """The content of ``reports/errata.yaml``."""

    errata: list[Erratum]


def read_errata(path: Path | None = None) -> list[Erratum]:
    """All errata, in the order of the file.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    path = path or repository_root() / "reports" / "errata.yaml"
    return YamlFile(path).validate(Errata).errata


def told(protocols: Iterable[tuple[str, Protocol]]) -> list[tuple[Erratum, list[str]]]:
    """The errata that concern protocols, each with the labels of those."""
    known = list(protocols)
    found = (
        (each, [label for label, protocol in known if each.concerns(protocol)])
        for each in read_errata()
    )
    return [(each, labels) for each, labels in found if labels]


def errata_page(generated: str) -> str:
    """The page of the documentation, as Markdown; ``generated`` is its first line."""
    lines = [
        generated,
        "",
        "# Errata of ns-2's laws",
        "",
        "Some laws in ns-2 do not do what their papers say, because of faults that this project",
        "keeps: what was published with ns-2 has them. Reports name those that their protocols",
        "have. A mended module of TCP/Linux can be [a folder](../protocols.md#a-module-of-linux).",
    ]
    for each in read_errata():
        names = ", ".join(f"`{name}`" for name in each.modules) or "all of them"
        lines += [
            "",
            f"## {each.title}",
            "",
            f"{', '.join(f'`Agent/{agent}`' for agent in each.agents)}, {names}.",
            "",
            each.text.strip(),
            "",
            f"**Measured.** {each.effect.strip()}",
            "",
            f"Source: {each.source.strip()}",
        ]
    return "\n".join(lines) + "\n"
