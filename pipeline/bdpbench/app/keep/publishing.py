"""`bdpbench publish`: report, metrics and scorecard of a finished tier, small enough to keep."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bdpbench.app.keep.bundle import Bundle
from bdpbench.app.keep.collecting import Results, collect
from bdpbench.app.keep.from_kept import collect_kept
from bdpbench.app.totals import totals_sentence
from bdpbench.contracts.files import write_bytes_atomically
from bdpbench.contracts.paths import checkout_root
from bdpbench.contracts.reports import REPORT_FOLDER
from bdpbench.errors import BdpbenchError
from bdpbench.pages.shards import drop_others
from bdpbench.studies.config import load_config
from bdpbench.studies.load import find_study, studies_dir


def publish_study(
    study: str | None,
    tier: str | None,
    *,
    allow_partial: bool,
    output: Path | None,
    from_kept: bool = False,
    add: bool = False,
    prove: int | None = None,
) -> None:
    """Write report, metrics, scorecard, runs, provenance and ``README.md`` of a tier.

    The files are those that ``archive`` puts at the top of an archive, byte for byte. Everything is
    computed again from the tables of the runs with the present metrics, published numbers and
    templates. Equal runs give equal bytes.

    Args:
        study: key or folder; None selects that of ``config.yaml``.
        tier: None selects that of ``config.yaml``.
        allow_partial: publish even if runs are missing.
        output: folder of all published studies; None selects that of the checkout.
        from_kept: use the values and series that are already published instead of the runs.
        add: with ``from_kept``, also add scenarios that were never published, from their runs.
        prove: with ``from_kept``, runs of each kind to simulate again when ids have changed.

    Raises:
        BdpbenchError: when runs of the tier are missing, because they were never simulated or
            because the study, a script or ns-2 has changed since; for a study outside the
            configuration without ``output``, because a checkout contains only its own studies; and
            as ``collect_kept`` does.
    """
    if study is not None and output is None and not find_study(study).is_relative_to(studies_dir()):
        raise BdpbenchError(
            "a study outside the checkout is not published into the checkout",
            where=study,
            hint="give another folder with -o FOLDER",
        )
    for option, is_given in (("--add", add), ("--prove", prove is not None)):
        if is_given and not from_kept:
            raise BdpbenchError(
                "what is published is never read without --from-kept",
                where=option,
                hint="give both, or neither to publish from the runs alone",
            )
    published = output or checkout_root() / "reports" / "published"
    if from_kept:
        key = study or load_config().study
        results = collect_kept(key, published / find_study(key).name, add=add, prove=prove)
        _check_tier(tier, results.plan["tier"])
        _check_kept_whole(results, allow_partial=allow_partial)
    else:
        results = collect(study, tier, allow_partial=allow_partial)
    folder = published / results.plan["study"]
    _write(folder, Bundle(results).kept_files())
    print(totals_sentence(results.scorecard))


def _check_tier(wanted: str | None, found: str) -> None:
    if wanted not in (None, found):
        raise BdpbenchError(
            f"what is published is the {found} tier", where=f"--tier {wanted}", hint="leave it out"
        )


def _check_kept_whole(results: Results, *, allow_partial: bool) -> None:
    if not results.missing or allow_partial:
        return
    planned = len(results.finished) + len(results.missing)
    raise BdpbenchError(
        f"{len(results.missing)} of {planned} runs of the tier were never published",
        where=results.plan["study"],
        hint="--add takes those of new scenarios from the results of this machine;"
        " --allow-partial continues without them, and the report says so",
    )


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files, print their sizes, and remove those of an older report."""
    for name, content in files.items():
        write_bytes_atomically(folder / name, content)
        if not name.startswith(f"{REPORT_FOLDER}/"):
            print(f"{folder / name}  {len(content) / 1e6:.2f} MB")
    beside = [name.removeprefix(f"{REPORT_FOLDER}/") for name in files if "/" in name]
    drop_others(folder / REPORT_FOLDER, beside)
    if beside:
        size = sum(len(files[f"{REPORT_FOLDER}/{name}"]) for name in beside)
        print(f"{folder / REPORT_FOLDER}: {len(beside)} files, {size / 1e6:.2f} MB")
