"""Studies by key or folder, and published results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bdpbench.app.costs import tier_estimates_s
from bdpbench.app.keep.publish import collect_kept
from bdpbench.contracts.paths import expanded, repository_root, results_dir
from bdpbench.contracts.reports import REPORT_NAME
from bdpbench.errors import BdpbenchError
from bdpbench.interface.frames import STUDIES_SCHEMA
from bdpbench.interface.tier import Tier
from bdpbench.studies.config import load_config
from bdpbench.studies.load import load_study, study_keys
from bdpbench.studies.runs import tiers_of


@dataclass(frozen=True)
class Study:
    """A study that can be simulated; made by ``study``.

    Attributes:
        key, title, description: as in ``study.yaml``.
        folder: folder of the study.
        tiers: tiers in which it has runs.
        scenarios: key → title.
        protocols: key → label.
        results: folder of runs and reports.
    """

    key: str
    title: str
    description: str
    folder: Path
    tiers: tuple[str, ...]
    scenarios: dict[str, str]
    protocols: dict[str, str]
    results: Path

    def tier(self, name: str | None = None) -> Tier:
        """A tier of the study; None selects that of ``config.yaml``.

        Raises:
            BdpbenchError: when the study has no runs in it.
        """
        chosen = name or load_config().tier
        if chosen not in self.tiers:
            raise BdpbenchError(
                f"study {self.key} has no runs in tier {chosen!r}",
                hint="its tiers: " + ", ".join(self.tiers),
            )
        return Tier(self.folder, chosen, self.results)


def study(name_or_path: str | Path, *, results: str | Path | None = None) -> Study:
    """A study by its key, or by its folder.

    Args:
        name_or_path: key of a configured study, or any folder with a ``study.yaml``.
        results: folder of runs and reports; None selects that of the configuration, as `bdpbench
            run` does.

    Raises:
        BdpbenchError: for an unknown study, or naming file, line and key of what is wrong.
    """
    found = load_study(name_or_path)
    chosen = results_dir(load_config().results) if results is None else expanded(Path(results))
    return Study(
        key=found.key,
        title=found.title,
        description=found.description,
        folder=found.folder,
        tiers=tuple(tiers_of(found)),
        scenarios={key: each.title for key, each in found.scenarios.items()},
        protocols={key: each.label for key, each in found.protocols.items()},
        results=chosen.resolve(),
    )


def list_studies() -> pl.DataFrame:
    """The configured studies.

    Returns:
        One row for each tier: study (str, key), title (str), tier (str), runs (i64, number of
            runs),
        estimated_cpu_s (f64, CPU time of ns-2 for all of them on the reference machine, s).

    Raises:
        BdpbenchError: naming file, line and key of what is wrong with a study.
    """
    rows = []
    for key in study_keys():
        found = load_study(key)
        estimates_s = tier_estimates_s(found)
        rows += [
            (key, found.title, tier, len(estimates_s[tier]), sum(estimates_s[tier]))
            for tier in tiers_of(found)
        ]
    return pl.DataFrame(rows, schema=STUDIES_SCHEMA, orient="row")


def published(name: str, *, folder: str | Path | None = None) -> Tier:
    """The published results of a study; verdicts and charts are computed anew from them.

    Args:
        name: key of a configured study.
        folder: folder written by `bdpbench publish`; None selects that of the checkout.

    Returns:
        The tier that was published. Its runs have no tables.

    Raises:
        BdpbenchError: when the study has no published results, or they no longer match the study.
    """
    found = study(name)
    place = _published_folder(found.key) if folder is None else expanded(Path(folder)).resolve()
    kept = collect_kept(str(found.folder), place)
    return Tier.of_published(found.folder, kept, place / REPORT_NAME)


def _published_folder(key: str) -> Path:
    folder = repository_root() / "reports" / "published" / key
    if not folder.is_dir():
        hint = "folder= names one that `bdpbench publish` has written; a clone has some"
        raise BdpbenchError(f"nothing of {key} is published here", where=str(folder), hint=hint)
    return folder
