# The jobs of a call, and the names that every rule shares. Paths are relative to the results folder.
# Inputs: <study>/<tier>/plan.json and batches/jobs.json (written by `bdpbench plan`). Outputs: none.

# The wrapper sets up what is missing.
CLI = (
    [sys.executable, "-P", "-m", "bdpbench"]
    if importlib.util.find_spec("bdpbench")
    else [f"{ROOT}/bdpbench"]
)

# `bdpbench run` names its plan. Called directly, Snakemake makes one, for all of its jobs.
if "BDPBENCH_PLAN" not in os.environ:
    os.environ["BDPBENCH_PLAN"] = subprocess.run(
        [*CLI, "plan"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


envvars:
    "BDPBENCH_PLAN",


PLAN = Path(os.environ["BDPBENCH_PLAN"])


workdir: str(PLAN.parents[2])


with open(PLAN.parent / "batches" / "jobs.json", encoding="utf-8") as stream:
    TIER = json.load(stream)
JOBS = TIER["jobs"]
FOLDER = f"{TIER['study']}/{PLAN.parent.name}"
NS2_IS_BUILT = config.get("ns2") == "built"
NS2_MARKER = f"ns2/{TIER['ns2_build_id']}-{TIER['backend']}.json"


wildcard_constraints:
    batch="[0-9]+",
