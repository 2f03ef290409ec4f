# The jobs of a call, and the names that every rule shares. Paths are relative to the results folder.
# Inputs: <study>/<tier>/plan.json and batches/jobs.json (written by `bdpbench plan`). Outputs: none.

CLI = [sys.executable, "-P", "-m", "bdpbench"]


def ask(*arguments):
    """Standard output of a bdpbench command."""
    done = subprocess.run(
        [*CLI, *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip()


# `bdpbench run` passes all of these; called directly, Snakemake plans once, not for each job.
PLAN_FILE = (
    config["plan"]
    if "plan" in config
    else ask("plan", *([] if workflow.is_main_process else ["--where"]))
)
BACKEND = (
    config["backend"]
    if "plan" in config
    else ask("ns2", "backend", "--backend", config["backend"])
)
NS2_IS_BUILT = config.get("ns2") == "built"
KEEP_GOING = ["--keep-going"] if config.get("keep_going") else []

with open(Path(PLAN_FILE).parent / "batches" / "jobs.json", encoding="utf-8") as stream:
    TIER = json.load(stream)
JOBS = TIER["jobs"]
FOLDER = f"{TIER['study']}/{Path(PLAN_FILE).parent.name}"
NS2_MARKER = f"ns2/{TIER['ns2_build_id']}-{BACKEND}.json"


wildcard_constraints:
    batch="[0-9]+",
