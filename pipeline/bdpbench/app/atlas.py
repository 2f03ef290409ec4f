"""`bdpbench atlas`: what all studies say about one or two protocols, as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from bdpbench.app.planning import Paths
from bdpbench.contracts.files import write_text_atomically
from bdpbench.contracts.paths import published_folder, results_dir
from bdpbench.contracts.reports import read_scorecard
from bdpbench.contracts.scorecard import SCORECARD_NAME, Atlas
from bdpbench.errors import BdpbenchError
from bdpbench.metrics import definitions_for
from bdpbench.score import load_expectations
from bdpbench.score.atlas import atlas_of
from bdpbench.score.atlas_entries import Material, Source, StudyPart, StudyRuns, part_of
from bdpbench.studies.atlas import Declared, Member, load_declared
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
    from bdpbench.pages.atlas import atlas_page  # slow to import

    atlas = make_atlas(protocols, studies)
    name = "-".join(["atlas", *atlas["asked"]])
    path = output or results_dir(load_config().results) / f"{name}.html"
    write_text_atomically(path, atlas_page(atlas))
    judged = sum(each["verdict"] != "not_run" for each in atlas["entries"])
    yield (
        f"numbers and statements: {len(atlas['entries'])}, with a verdict: {judged}; "
        f"studies: {len(atlas['studies'])}; relations between them: {len(atlas['relations'])}"
    )
    yield f"atlas: {path}"


def make_atlas(protocols: Sequence[str] = (), studies: Sequence[Path] = ()) -> Atlas:
    """The atlas of the configured studies and of further ones; see ``write_atlas``."""
    declared = load_declared(studies)
    asked = list(dict.fromkeys(declared.protocol(each) for each in protocols))
    if len(asked) > _MOST_PROTOCOLS:
        raise BdpbenchError("expected one protocol, or two", where="PROTOCOL")
    parts = [_part(declared, member) for member in declared.members.values()]
    return atlas_of(declared, parts, asked)


def _part(declared: Declared, member: Member) -> StudyPart:
    definitions = definitions_for(member.study.folder)
    expected = load_expectations(member.study.folder, definitions)
    material = Material(member, expected, definitions, StudyRuns(member.study))
    return part_of(material, list(_sources(member)), declared)


def _sources(member: Member) -> Iterator[Source]:
    """Scorecards of a study: those of this machine's results, and the published ones."""
    results, key = results_dir(load_config().results), member.study.key
    for name in _ORDER:
        is_published = name == _PUBLISHED
        folder = published_folder(key) if is_published else Paths(results, key, name).folder
        if (folder / SCORECARD_NAME).is_file():
            scorecard = read_scorecard(folder / SCORECARD_NAME)
            where = "published" if is_published else "run on this machine"
            yield Source(f"{scorecard['tier']} tier, {where}", scorecard)
