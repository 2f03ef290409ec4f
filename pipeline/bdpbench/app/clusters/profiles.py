"""Snakemake profiles: shipped ones by name, others by path."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bdpbench.contracts.paths import repository_root
from bdpbench.contracts.yaml_files import YamlFile
from bdpbench.errors import BdpbenchError

CONFIG_NAME = "config.yaml"
SLURM = "slurm"


class _Keys(BaseModel):
    """The keys of a profile that bdpbench reads; all others are for Snakemake."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    executor: str = "local"


@dataclass(frozen=True)
class Profile:
    """A Snakemake profile; ``executor`` is the plugin that submits its jobs."""

    folder: Path
    executor: str

    @property
    def is_slurm(self) -> bool:
        """Whether its jobs go to Slurm, so that bdpbench watches them as well."""
        return self.executor == SLURM


def find_profile(name_or_path: Path) -> Profile:
    """The profile in a folder, or the shipped one with that name.

    Raises:
        BdpbenchError: when there is none, or when its ``config.yaml`` is invalid.
    """
    shipped = repository_root() / "workflow" / "profiles"
    for folder in (name_or_path, shipped / name_or_path):
        path = folder / CONFIG_NAME
        if path.is_file():
            return Profile(folder.resolve(), YamlFile(path).validate(_Keys).executor)
    names = ", ".join(sorted(path.parent.name for path in shipped.glob(f"*/{CONFIG_NAME}")))
    raise BdpbenchError(
        f"no such Snakemake profile: {name_or_path}",
        where="--profile",
        hint=f"give one of {names}, or a folder with a {CONFIG_NAME}",
    )
