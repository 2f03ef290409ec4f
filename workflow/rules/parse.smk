# Output files → parquet tables → values of each run, a batch of runs in one process; tables and
# values that are current stay.
# Inputs: plan.json, runs/<run id>/run.json.
# Outputs: <study>/<tier>/parsed/<batch>.json (and runs/<run id>/{tables,values}/).


rule parse:
    input:
        plan=PLAN_FILE,
        runs=lambda wildcards: expand(
            "runs/{run_id}/run.json", run_id=PLAN["batches"][wildcards.batch]
        ),
    output:
        f"{FOLDER}/parsed/{{batch}}.json",
    log:
        f"{FOLDER}/parsed/{{batch}}.log",
    params:
        cli=CLI,
        run_dirs=lambda wildcards: [
            f"runs/{each}" for each in PLAN["batches"][wildcards.batch]
        ],
    shell:
        "{params.cli:q} parse --plan {input.plan:q} -o {output:q} {params.run_dirs:q}"
        " > {log:q} 2>&1"
