"""`bdpbench atlas`: what all studies say about one or two protocols, as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bdpbench.app.planning import Paths
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.paths import published_folder, results_dir
from bdpbench.contracts.reports import read_scorecard
from bdpbench.contracts.scorecard import SCORECARD_NAME, AtlasEntry
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import definitions_for
from bdpbench.pages.atlas import Atlas, atlas_page
from bdpbench.score import load_expectations
from bdpbench.score.atlas_entries import (
    Material,
    Source,
    StudyRuns,
    check_relation,
    entries_of,
    standing_of,
)
from bdpbench.studies.atlas import load_declared
from bdpbench.studies.config import load_config

_MOST_PROTOCOLS = 2
_PUBLISHED = "published"
# Where verdicts are searched: the study's own durations first, short runs last.
_ORDER = ("paper", "full", _PUBLISHED, "quick")


def write_atlas(
    protocols: Sequence[str], output: Path | None, studies: Sequence[Path]
) -> Iterator[str]:
    """Write the page of the atlas, and return lines for the terminal.

    Args:
        protocols: names of the protocols that it is about; empty for all.
        output: file to write; None for one in the results folder.
        studies: folders of further studies to include.

    Raises:
        BdpbenchError: for an unknown protocol, and for an error in a file of the atlas.
    """
    atlas = make_atlas(protocols, studies)
    name = "-".join(["atlas", *atlas.asked])
    path = output or results_dir(load_config().results) / f"{name}.html"
    write_text_atomically(path, atlas_page(atlas))
    shown = atlas.shown
    judged = sum(each["verdict"] != "not_run" for each in shown.entries.values())
    yield (
        f"numbers and statements: {len(shown.entries)}, with a verdict: {judged}; "
        f"relations between studies: {len(shown.relations)}"
    )
    yield f"atlas: {path}"


def make_atlas(protocols: Sequence[str] = (), studies: Sequence[Path] = ()) -> Atlas:
    """The atlas of the configured studies and of further ones; see ``write_atlas``."""
    declared = load_declared(studies)
    asked = list(dict.fromkeys(declared.protocol(each) for each in protocols))
    if len(asked) > _MOST_PROTOCOLS:
        raise BdpbenchError("expected one protocol, or two", where="PROTOCOL")
    entries, told = dict[str, AtlasEntry](), dict[str, list[str]]()
    for key, member in declared.members.items():
        folder, sources = member.study.folder, list(_sources(key))
        definitions = definitions_for(folder)
        expected = load_expectations(folder, definitions)
        material = Material(member, expected, definitions, StudyRuns(member.study))
        entries |= {each["key"]: each for each in entries_of(material, sources)}
        told[key] = [each.told for each in sources]
    relations = []
    for relation, source, index in declared.relations:
        check_relation(relation, source, index, entries)
        standings = [
            standing_of(entries[key] for key in each.rests_on) for each in relation.positions
        ]
        relations.append((relation, standings))
    return Atlas(declared, entries, relations, told, asked)


def _sources(key: str) -> Iterator[Source]:
    """Scorecards of a study: those of this machine's results, and the published ones."""
    results = results_dir(load_config().results)
    for name in _ORDER:
        is_published = name == _PUBLISHED
        folder = published_folder(key) if is_published else Paths(results, key, name).folder
        if (folder / SCORECARD_NAME).is_file():
            scorecard = read_scorecard(folder / SCORECARD_NAME)
            where = "published" if is_published else "run on this machine"
            yield Source(f"{scorecard['tier']} tier, {where}", scorecard)
