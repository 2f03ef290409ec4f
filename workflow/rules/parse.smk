# Output files → parquet tables, a batch of runs at a time; tables that are current stay.
# Inputs: runs/<run id>/run.json. Outputs: <study>/<tier>/parsed/<batch>.json.


rule parse:
    input:
        lambda wildcards: expand(
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
        "{params.cli:q} parse -o {output:q} {params.run_dirs:q} > {log:q} 2>&1"
