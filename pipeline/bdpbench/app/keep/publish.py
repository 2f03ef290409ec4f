"""`bdpbench publish`: report, metrics and scorecard of a finished tier, small enough to keep.

What is published outlives its runs: of a run that is not in the results folder, values and series
are taken from what is published already. So verdicts, texts and charts are made anew without any
run, and only what has changed since then has to be simulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bdpbench.app.keep.bundle import Bundle, Results, collect
from bdpbench.app.keep.published import find_published, read_published
from bdpbench.app.planning import Wanted, prepare
from bdpbench.app.totals import totals_sentence
from bdpbench.contracts.files import write_bytes_atomically
from bdpbench.contracts.kept import LIST_NAME, seal
from bdpbench.contracts.paths import checkout_root, config_dir
from bdpbench.contracts.reports import REPORT_FOLDER
from bdpbench.errors import BdpbenchError
from bdpbench.pages.shards import drop_others
from bdpbench.studies.config import load_config
from bdpbench.studies.load import find_study

_SHOWN = 3


def publish_study(
    study: str | None,
    tier: str | None,
    *,
    allow_partial: bool,
    output: Path | None,
) -> None:
    """Write report, metrics, scorecard, runs, provenance and ``README.md`` of a tier.

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
    if study is not None and output is None and not find_study(study).is_relative_to(config_dir()):
        raise BdpbenchError(
            "a study outside the checkout is not published into the checkout",
            where=study,
            hint="give another folder with -o FOLDER",
        )
    key = study or load_config().study
    folder = (output or checkout_root() / "reports" / "published") / find_study(key).name
    published = find_published(folder)
    if published is not None and tier not in (None, published.provenance["tier"]):
        folder = folder.with_name(f"{folder.name}-{tier}")
        published = find_published(folder)
    tier = tier or (published.provenance["tier"] if published else None)
    prepared = prepare(Wanted(key, tier))
    results = collect(prepared, allow_partial=allow_partial, published=published)
    _write(folder, Bundle(results).kept_files())
    print(totals_sentence(results.scorecard))


def collect_published(study: str, folder: Path, tier: str | None = None) -> Results:
    """A published tier with today's verdicts, texts and charts, whatever was simulated here.

    Args:
        study: key or folder.
        folder: folder written by `publish`.
        tier: None selects the published one.

    Raises:
        BdpbenchError: when a file is missing or damaged; when another tier is published; as
            ``collect``; when a published run is not planned any more.
    """
    published = read_published(folder)
    found = published.provenance["tier"]
    if tier not in (None, found):
        said = f"what is published is the {found} tier"
        raise BdpbenchError(said, where=f"--tier {tier}", hint="leave it out")
    prepared = prepare(Wanted(study, found))
    if others := published.other_ids(prepared.runs):
        shown = ", ".join(sorted(others)[:_SHOWN])
        raise BdpbenchError(
            f"{len(others)} of {len(published.runs)} runs are planned differently now ({shown})",
            where=str(folder),
            hint="`./bdpbench run` simulates them, and `publish` publishes them anew",
        )
    return collect(prepared, allow_partial=True, published=published, simulated=False)


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files, print their sizes, and remove those of an older report."""
    (folder / LIST_NAME).unlink(missing_ok=True)
    for name, content in files.items():
        write_bytes_atomically(folder / name, content)
        if not name.startswith(f"{REPORT_FOLDER}/"):
            print(f"{folder / name}  {len(content) / 1e6:.2f} MB")
    beside = [name.removeprefix(f"{REPORT_FOLDER}/") for name in files if "/" in name]
    drop_others(folder / REPORT_FOLDER, beside)
    if beside:
        size = sum(len(files[f"{REPORT_FOLDER}/{name}"]) for name in beside)
        print(f"{folder / REPORT_FOLDER}: {len(beside)} files, {size / 1e6:.2f} MB")
    seal(folder / LIST_NAME, [folder / name for name in files], "published")
