# The plan, and the names that every rule shares. Paths are relative to the results folder.
# Inputs: plan.json (written by `bdpbench plan`). Outputs: none.

CLI = [sys.executable, "-m", "bdpbench"]


def ask(*arguments):
    """What bdpbench prints on standard output."""
    done = subprocess.run(
        [*CLI, *arguments], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip()


# Both are given by `bdpbench run`; without it they follow from config.yaml.
PLAN_FILE = config["plan"] if "plan" in config else ask("plan")
with open(PLAN_FILE, encoding="utf-8") as stream:
    PLAN = json.load(stream)
FOLDER = f"{PLAN['study']}/{PLAN['tier']}"
BACKEND = ask("ns2", "backend", "--backend", config["backend"])
NS2_MARKER = f"ns2/{PLAN['ns2_build_id']}-{BACKEND}.json"


wildcard_constraints:
    run_id="[0-9a-f]{16}",
    batch="[A-Za-z0-9_-]+",
