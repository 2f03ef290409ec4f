# The plan, and the names that every rule shares. Paths are relative to the results folder.
# Inputs: plan.json (written by `bdpbench plan`). Outputs: none.

CLI = [sys.executable, "-m", "bdpbench"]


def find_plan():
    """Path of the plan: given by `bdpbench run`, or made here from config.yaml."""
    if "plan" in config:
        return config["plan"]
    return subprocess.run(
        [*CLI, "plan"], check=True, capture_output=True, text=True
    ).stdout.strip()


PLAN_FILE = find_plan()
with open(PLAN_FILE, encoding="utf-8") as stream:
    PLAN = json.load(stream)
FOLDER = f"{PLAN['study']}/{PLAN['tier']}"
BACKEND = config.get("backend", "auto")
if BACKEND == "auto":
    BACKEND = "native"
NS2_MARKER = f"ns2/{PLAN['ns2_build_id']}-{BACKEND}.json"


wildcard_constraints:
    run_id="[0-9a-f]{16}",
    batch="[A-Za-z0-9_-]+",
