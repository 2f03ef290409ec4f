"""The commands that run a study, and say what there is to run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from bdpbench.cli.options import (
    PATH,
    Words,
    call_options,
    json_option,
    selection_options,
    study_argument,
    tier_option,
)
from bdpbench.contracts.files import remembered, sources_of
from bdpbench.contracts.paths import config_dir, repository_root


@click.command("run")
@study_argument
@tier_option
@selection_options
@click.option("-k", "--keep-going", is_flag=True, help="Continue with other runs if one fails.")
@click.option(
    "--until-decided",
    is_flag=True,
    help="Repeat runs whose verdicts are undecided, up to the last look of spread.yaml.",
)
@call_options
def run_command(scenarios: Words, protocols: Words, **asked: Any) -> None:
    """Simulate the missing runs of STUDY and write its report.

    Finished runs are kept and never simulated again. After an interruption, call the same command
    to resume.
    """
    from bdpbench.app.run import RunRequest, run_study
    from bdpbench.studies.plan import Selection

    run_study(RunRequest(selection=Selection(scenarios, protocols), **asked))


@click.command("evaluate")
@click.argument("protocols", nargs=-1, required=True, metavar="[NAME=]PROTOCOL...")
@click.option("--quick", is_flag=True, help="Some runs of each study: minutes instead of hours.")
@click.option("--study", "studies", multiple=True, help="Only this study; may be repeated.")
@click.option("--name", help="Name of the folder in results/evaluations/.")
@click.option("--against", type=PATH, help="Show what changed since this evaluation, a folder.")
@click.option(
    "--beside", type=PATH, help="Show the protocols of this evaluation as well, a folder."
)
@click.option("--export", type=PATH, help="Folder for tables (LaTeX, CSV), figures and values.")
@click.option("--format", "formats", default="pdf", show_default=True, help="Of the figures.")
@click.option("--pdf", is_flag=True, help="Print the report, with an installed Chromium or Chrome.")
@call_options
def evaluate_command(protocols: Words, **asked: Any) -> None:
    """Put protocols into the scenarios of all studies, and compare them with all others.

    A PROTOCOL is a folder with protocol.yaml and law.cc (or tcp_*.c), one of config/protocols,
    STUDY:PROTOCOL, or linux:MODULE of your distribution's Linux; `league` means all of them. In
    each study it takes the place of one of the study's, and all else stays as it was. The others'
    values are those that are published, so that only its own runs are simulated; called again, the
    same command resumes.
    """
    from bdpbench.app.evaluate.evaluating import EvaluateRequest, evaluate
    from bdpbench.app.evaluate.report import WantedFiles

    names = ("against", "export", "formats", "pdf")
    files = WantedFiles(**{name: asked.pop(name) for name in names})
    evaluate(EvaluateRequest(protocols, files=files, **asked))


@click.command("list")
@study_argument
@tier_option
@selection_options
@click.option("--runs", "show_runs", is_flag=True, help="Show every run with its id.")
@json_option
def list_command(
    study: str | None,
    tier: str | None,
    scenarios: Words,
    protocols: Words,
    show_runs: bool,
    as_json: bool,
) -> None:
    """List studies, their scenarios and runs, and their expected CPU time."""

    def told() -> str:
        from bdpbench.app.listing import list_runs, list_scenarios, list_studies
        from bdpbench.studies.plan import Selection

        selection = Selection(scenarios, protocols)
        if study is None:
            found = list_studies()
        elif show_runs:
            found = list_runs(study, tier, selection)
        else:
            found = list_scenarios(study, selection)
        if as_json:
            return "\n".join(json.dumps(facts) for _, facts in found if facts)
        return "\n".join(line for line, _ in found)

    own = study is None or (
        (config_dir() / "studies" / study).is_dir() and not Path(study).exists()
    )
    if show_runs or not own:
        click.echo(told())
        return
    published = repository_root() / "reports" / "published"
    sources = [*sources_of(config_dir()), *published.glob("*/*.parquet")]
    click.echo(remembered((study, tier, scenarios, protocols, as_json), sources, told))


@click.command("new")
@click.argument("kind", type=click.Choice(["study", "metric", "protocol", "queue"]))
@click.argument("name", type=PATH)
@click.argument("study", required=False)
@click.option("--module", type=PATH, help="The protocol is this module of Linux: tcp_mine.c.")
@click.option("--linux", default="", help="The protocol is this module of your Linux: cubic.")
def new_command(kind: str, name: Path, study: str | None, module: Path | None, linux: str) -> None:
    """Write a study, a metric, a protocol or a queue to begin with, which runs as it is.

    NAME is a new folder: of a study with two protocols, one path and three buffers; of a protocol,
    AIMD with two parameters; of a queue, drop-tail that marks from a threshold on, with a study. A
    metric NAME begins metrics.py of STUDY, a folder or a key, which has none yet.
    """
    from bdpbench.app.beginning import begin

    if (kind == "metric") == (study is None):
        raise click.UsageError("a metric needs NAME and STUDY, the others NAME alone")
    if (module is not None or linux) and kind != "protocol":
        raise click.UsageError("only a protocol can be a module of Linux")
    click.echo(begin(kind, name, study or "", module, linux))


@click.command("check")
@study_argument
@tier_option
@json_option
def check_command(study: str | None, tier: str | None, as_json: bool) -> None:
    """Fail unless everything of STUDY that was run is reproduced, except known misses."""
    from bdpbench.app.validate import check_scorecard

    check_scorecard(study, tier, as_json=as_json)
