"""``config/config.yaml``: the settings of a run that the command line does not give."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bdpbench.contracts.paths import config_dir
from bdpbench.contracts.yaml_files import Strict, YamlFile
from bdpbench.studies.study import TierName

BackendName = Literal["auto", "docker", "native"]
VariantName = Literal["fast", "stock"]


class DockerConfig(Strict):
    """How the Docker backend builds and runs ns-2."""

    build_options: list[str] = Field(
        default_factory=list, description="Further options of docker build, one item each"
    )


class SlurmConfig(Strict):
    """What ``--profile slurm`` asks Slurm for, and how long it waits."""

    partition: str | None = Field(None, description="Partition of the jobs; null: Slurm's default")
    account: str | None = Field(
        None, description="Account that the jobs are charged to; null: Slurm's default"
    )
    time_limit_min: int | None = Field(
        None,
        ge=1,
        description="The longest time that a job may request, min, as the partition allows",
    )
    options: str = Field("", description="Further options of sbatch, e.g. --nice=100")
    jobs: int = Field(100, ge=1, description="Jobs in the queue at once, unless --jobs is given")
    batch_min: float = Field(10.0, gt=0, description="Expected time of a job, min")
    poll_s: int = Field(20, ge=1, description="Interval between queries to Slurm, s")
    unreachable_min: float = Field(
        10.0, gt=0, description="Time without an answer from Slurm after which the call ends, min"
    )
    not_started_h: float = Field(
        24.0, gt=0, description="Time for which all jobs may wait before the call ends, h"
    )
    silent_min: float = Field(
        5.0, gt=0, description="Time with an empty queue after which jobs are submitted again, min"
    )


class Config(Strict):
    """The content of ``config/config.yaml``."""

    schema_version: Literal[1]
    study: str = Field(description="Study that `bdpbench run` runs")
    tier: TierName = Field(description="Tier that it runs: quick, paper or full")
    backend: BackendName = Field(
        description="Where ns-2 runs; auto: what is built, else native, or docker where no "
        "compiler can be had"
    )
    ns2_variant: VariantName = Field(
        "fast",
        description="The ns-2 that runs use: fast, or stock, without what makes ns-2 faster. Both "
        "write the same bytes. Docker images contain only fast",
    )
    jobs: Annotated[int, Field(ge=1)] | Literal["auto"] = Field(
        description="Simulations at once; auto: one for each core"
    )
    results: str = Field(
        description="Folder of runs and reports, relative to the checkout, or to the current "
        "folder if bdpbench was installed with pip"
    )
    docker: DockerConfig = Field(default_factory=DockerConfig)
    slurm: SlurmConfig = Field(default_factory=SlurmConfig)


def load_config() -> Config:
    """Read and check ``config/config.yaml``.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    return YamlFile(config_dir() / "config.yaml").validate(Config)
