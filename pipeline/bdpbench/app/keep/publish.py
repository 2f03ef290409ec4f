"""`publish` and `archive`: what is kept of a finished tier, as a folder, and in a zip with sources.

What is published outlives its runs: of a run that is not in the results folder, values and series
are taken from what is published already. So verdicts, texts and charts are made anew without any
run, and only what has changed since then has to be simulated.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bdpbench.app.keep.archive import (
    CHECKSUMS_NAME,
    METADATA_NAME,
    check_output,
    crate_json,
    write_archive,
)
from bdpbench.app.keep.results import KeptResults
from bdpbench.app.keep.sources import common_sources, folder_sources, study_sources
from bdpbench.app.keep.tier import (
    Results,
    collect,
    origin,
    run_words,
    study_place,
    write_kept,
)
from bdpbench.app.planning import Wanted, prepare
from bdpbench.app.totals import totals_sentence
from bdpbench.contracts.paths import checkout_root, config_dir, resolved
from bdpbench.contracts.plan import Plan, study_folder
from bdpbench.contracts.reports import KEPT_RUNS_NAME, PROVENANCE_NAME, SUMMARY_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.pages.exports import ExportRequest, export_files
from bdpbench.processes import signals_interrupt
from bdpbench.studies.config import load_config
from bdpbench.studies.folders import ComponentFolder, ProtocolFolder, QueueFolder
from bdpbench.studies.load import STUDY_NAME, find_study, read_study
from bdpbench.studies.ns3_program import simulators

_SHOWN = 3


def publish_study(
    study: str | None,
    tier: str | None,
    *,
    allow_partial: bool,
    output: Path | None,
) -> None:
    """Write what is kept of a tier into a folder, and print the names of the files.

    The files are those that ``archive`` puts at the top of an archive, byte for byte. Equal values
    and equal series give equal bytes, whether from runs or from what is published.

    Args:
        study: key or folder; None selects that of ``config.yaml``.
        tier: None selects the published one, or else that of ``config.yaml``. Another tier than the
            one that is published as ``STUDY`` is published as ``STUDY-TIER``.
        allow_partial: publish even if runs are missing.
        output: folder of all published studies; None selects that of the checkout.

    Raises:
        BdpbenchError: when a run has neither results nor published values, because it was never
            simulated or because the study, a script or ns-2 has changed since; when metrics are
            defined differently today; for a study outside the configuration without ``output``,
            because a checkout contains only its own studies.
    """
    key = study or load_config().study
    found = find_study(key)
    if output is None and not found.is_relative_to(config_dir()):
        raise BdpbenchError(
            "a study outside the checkout is not published into the checkout",
            where=key,
            hint="give another folder with -o FOLDER",
        )
    folder = (output or checkout_root() / "reports" / "published") / found.name
    published = _published(folder)
    if published is not None and tier not in (None, published.provenance["tier"]):
        folder = folder.with_name(f"{folder.name}-{tier}")
        published = _published(folder)
    tier = tier or (published.provenance["tier"] if published else None)
    prepared = prepare(Wanted(key, tier))
    results = collect(prepared, allow_partial=allow_partial, published=published)
    files = results.kept_files()
    write_kept(folder, files, "published")
    for name, content in files.items():
        print(f"{folder / name}  {len(content) / 1e6:.2f} MB")
    print(totals_sentence(results.scorecard))


def _published(folder: Path) -> KeptResults | None:
    """What `publish` has written into a folder; None if there is nothing of it."""
    return KeptResults(folder) if (folder / PROVENANCE_NAME).is_file() else None


def collect_published(study: str, published: KeptResults, tier: str | None = None) -> Results:
    """A published tier with today's verdicts, texts and charts, whatever was simulated here.

    Args:
        study: key or folder.
        published: what `publish` has written.
        tier: None selects the published one.

    Raises:
        BdpbenchError: when a file is missing or damaged; when another tier is published; as
            ``collect``; when a published run is not planned any more.
    """
    found = published.provenance["tier"]
    if tier not in (None, found):
        said = f"what is published is the {found} tier"
        raise BdpbenchError(said, where=f"--tier {tier}", hint="leave it out")
    prepared = prepare(Wanted(study, found))
    planned = {run["run_id"] for run in prepared.runs}
    if others := sorted({run["run_id"] for run in published.runs} - planned):
        raise BdpbenchError(
            f"{len(others)} published runs are planned differently now "
            f"({', '.join(others[:_SHOWN])})",
            where=str(published.path),
            hint="`./bdpbench run` simulates them, and `publish` publishes them anew",
        )
    return collect(prepared, allow_partial=True, published=published, simulated=False)


# ------------------------------------------------------------------------------------- archive


def archive_study(
    study: str | None,
    tier: str | None,
    output: Path | None,
    *,
    allow_partial: bool,
) -> None:
    """Write the archive of a tier, and print its size and SHA-256.

    Equal results, configuration and sources give equal bytes, wherever and whenever the archive is
    made. ns-2's own output files are left out: they are large, and ``runs.parquet`` has their
    checksums.

    Args:
        study: key or folder; None selects that of ``config.yaml``.
        tier: None selects that of ``config.yaml``.
        output: the zip; by default ``<study>-<tier>.zip`` in the folder of the tier.
        allow_partial: archive even if runs are missing.

    Raises:
        BdpbenchError: when runs of the tier are missing, or ``output`` cannot be written.
    """
    wanted = Wanted(study, tier)
    paths = wanted.paths()
    path = output or paths.folder / f"{paths.study}-{paths.tier}.zip"
    check_output(path)
    results = collect(prepare(wanted), allow_partial=allow_partial)
    plan, totals = results.plan, totals_sentence(results.scorecard)
    entries = results.kept_files()
    entries[SUMMARY_NAME] += _ABOUT.format(words=run_words(plan)).encode()
    request = ExportRequest(("svg",), origin(plan["ns2_build_id"], plan["runs"]), archived=True)
    for name, content in export_files(results.inputs(), request):
        entries[f"exports/{name}"] = content
    entries |= _sources(plan)
    entries[METADATA_NAME] = crate_json(
        entries,
        name=f"Reproduction of {plan['study']} with "
        f"{' and '.join(simulators(plan['runs']))}, {plan['tier']} tier",
        description=f"{plan['title']}. {totals.replace('**', '')}",
        date=results.times()[1][:10],
        paper=read_study(study_folder(plan) / STUDY_NAME).citation,
    )
    with signals_interrupt():
        sha256 = write_archive(path, entries)
    print(totals)
    print(f"{path}: {len(entries) + 1} files, {path.stat().st_size / 1e6:.1f} MB")
    print(f"SHA-256 {sha256}")


_ABOUT = f"""
`exports/` has figures and tables with their captions, and `source/` bdpbench, the study, scripts
in Tcl and patches of ns-2. The output files of ns-2 are not in this archive; `{KEPT_RUNS_NAME}` has
their checksums.

```sh
sha256sum -c {CHECKSUMS_NAME}     # or: ./bdpbench verify FILE.zip
source/bdpbench {{words}}     # simulates everything anew
```
"""


def _sources(plan: Plan) -> dict[str, bytes]:
    """The parts of the checkout that determine results, with only this study's configuration."""
    folder, place = study_folder(plan), study_place(plan["study"])
    found = {**common_sources(), **study_sources(read_study(folder / STUDY_NAME), place)}
    for kept, each in folders_of_plan(plan):
        if not each.path.is_relative_to(folder):
            found |= folder_sources(each, f"{place}/{kept}")
    return found


def folders_of_plan(plan: Plan) -> Iterator[tuple[str, ComponentFolder]]:
    """Protocols and queues that are folders, under the keys that the study gives them."""
    for key, protocol in plan["protocols"].items():
        if "folder" in protocol:
            yield f"protocols/{key}", ProtocolFolder(resolved(protocol["folder"]))
    for key, folder in plan.get("queue_folders", {}).items():
        yield f"queues/{key}", QueueFolder(resolved(folder))
