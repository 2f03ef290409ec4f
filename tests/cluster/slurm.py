"""A private Slurm for tests: munged, slurmctld and several slurmds on this machine.

`with Slurm(folder, nodes=3) as slurm:` starts them on free ports, with all their files in a folder,
and stops them however the block ends. `slurm.environment()` is the environment of its users. It
needs Debian's packages slurm-wlm and munge, and uses no settings of the machine.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "srun")
_START_S = 300.0
_END_S = 120.0
_POLL_S = 0.1
_SETTINGS = """\
ClusterName=bdpbench
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
# No cgroups, no accounting: a container has neither.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
# Nodes have the processors and memory that stand here, whatever the machine has.
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MinJobAge={min_job_age_s}
PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000,bf_interval=2,nohold_on_prolog_fail
MailProg=/bin/true
"""


class Slurm:
    """A cluster of simulated nodes n0, n1, …, each with one processor and 4 GB.

    Partitions: ``main``, the default; ``brief``, which limits jobs to one minute; ``urgent``, whose
    jobs pre-empt those of ``main``.
    """

    def __init__(self, folder: Path, *, nodes: int = 3, min_job_age_s: int = 300) -> None:
        self.folder, self._count = folder, nodes
        self._min_job_age_s = min_job_age_s
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes."""
        return [f"n{number}" for number in range(self._count)]

    def environment(self) -> dict[str, str]:
        """The environment of its users."""
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    def __enter__(self) -> Self:
        try:
            self._write()
            self._start_munged()
            self.start_controller()
            for node in self.nodes:
                self._start(f"slurmd-{node}", ["slurmd", "-D", "-N", node, "-f", self._conf])
            self._wait("all nodes to be idle", self._nodes_are_idle)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def start_controller(self) -> None:
        """Start slurmctld and wait until it answers."""
        self._start("slurmctld", ["slurmctld", "-D", "-f", self._conf])
        self._wait("slurmctld to answer", lambda: self.ask("squeue") is not None)

    def stop_controller(self) -> None:
        """Stop slurmctld, as if its machine had failed; jobs continue."""
        controller = self._daemons.pop("slurmctld")
        controller.kill()
        controller.wait()

    def ask(self, *command: str) -> str | None:
        """The output of one of Slurm's commands, or None if it fails."""
        done = subprocess.run(
            command, env=self.environment(), capture_output=True, text=True, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else None

    def jobs(self) -> list[tuple[str, str, str]]:
        """All jobs that Slurm remembers: id, state and name."""
        said = self.ask("squeue", "--noheader", "--states=all", "--format=%i|%T|%j") or ""
        rows = (line.split("|", 2) for line in said.splitlines())
        return [(row[0], row[1], row[2]) for row in rows]

    # ------------------------------------------------------------ daemons

    @property
    def _conf(self) -> str:
        return str(self.folder / "slurm.conf")

    def _write(self) -> None:
        folder = self.folder
        for name in ("munge", "state", "bin", *(f"spool-{node}" for node in self.nodes)):
            (folder / name).mkdir(parents=True)
        (folder / "munge").chmod(0o711)
        key = folder / "munge" / "key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        controller, *ports = free_ports(1 + self._count)
        user = subprocess.check_output(["id", "-un"], text=True).strip()
        settings = _SETTINGS.format(
            port=controller, user=user, folder=folder, min_job_age_s=self._min_job_age_s
        )
        nodes = [
            f"NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=1 "
            "RealMemory=4000 State=UNKNOWN"
            for node, port in zip(self.nodes, ports, strict=True)
        ]
        partitions = [
            "PartitionName=main Nodes=ALL Default=YES MaxTime=1440 PriorityTier=1 State=UP",
            "PartitionName=brief Nodes=ALL MaxTime=1 PriorityTier=1 State=UP",
            "PartitionName=urgent Nodes=ALL MaxTime=1440 PriorityTier=10 State=UP",
        ]
        text = "\n".join([settings, *nodes, *partitions, ""])
        Path(self._conf).write_text(text)
        # The plugin's job step removes SLURM_CONF from the environment of srun, which then finds
        # the machine's own cluster or none.
        step = folder / "bin" / "srun"
        step.write_text(f'#!/bin/sh\nSLURM_CONF={self._conf} exec {shutil.which("srun")} "$@"\n')
        step.chmod(0o755)

    def _start_munged(self) -> None:
        place = self.folder / "munge"
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log"}
        options = [f"--{name}={place / file}" for name, file in files.items()]
        seed = f"--seed-file={place / 'seed'}"
        self._start("munged", ["munged", "--foreground", "--force", *options, seed])
        self._wait("munged", (place / "socket").exists)

    def _start(self, name: str, command: Sequence[str]) -> None:
        log: IO[bytes]
        with (self.folder / f"{name}.log").open("ab") as log:
            self._daemons[name] = subprocess.Popen(
                command,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _nodes_are_idle(self) -> bool:
        states = (self.ask("sinfo", "--noheader", "-p", "main", "-N", "-o", "%t") or "").split()
        return states == ["idle"] * self._count

    def _wait(self, what: str, ready: object) -> None:
        assert callable(ready)
        deadline = time.monotonic() + _START_S
        while not ready():
            dead = [name for name, each in self._daemons.items() if each.poll() is not None]
            if dead or time.monotonic() > deadline:
                log = self.folder / f"{dead[0] if dead else 'slurmctld'}.log"
                raise RuntimeError(f"waited in vain for {what}: {log.read_text()[-2000:]}")
            time.sleep(_POLL_S)

    def _end(self) -> None:
        """End all jobs and daemons that were started here, by their ids."""
        jobs = [job for job, state, _ in self.jobs() if state in ("PENDING", "RUNNING")]
        if jobs:
            self.ask("scancel", "--signal=KILL", *jobs)
            self.ask("scancel", *jobs)
            deadline = time.monotonic() + _END_S
            while time.monotonic() < deadline and any(
                state in ("RUNNING", "COMPLETING") for _, state, _ in self.jobs()
            ):
                time.sleep(_POLL_S)
        for name in reversed(list(self._daemons)):
            daemon = self._daemons.pop(name)
            with suppress(ProcessLookupError):
                daemon.terminate()
            try:
                daemon.wait(_END_S)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        # Without cgroups, Slurm loses track of a process whose parent has died.
        for pid in self._processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _processes(self) -> list[int]:
        """Processes that were started for this cluster alone, judging by their environment."""
        mine = f"SLURM_CONF={self._conf}\0".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mine in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
        return found


def missing_programs() -> list[str]:
    """Programs of Slurm and munge that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
