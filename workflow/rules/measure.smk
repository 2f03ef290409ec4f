# Tables → metrics of every run, and of several runs together.
# Inputs: plan.json, <study>/<tier>/parsed/<batch>.json. Outputs: <study>/<tier>/metrics.parquet.


rule measure:
    input:
        plan=PLAN_FILE,
        parsed=expand(f"{FOLDER}/parsed/{{batch}}.json", batch=PLAN["batches"]),
    output:
        f"{FOLDER}/metrics.parquet",
    log:
        f"{FOLDER}/measure.log",
    params:
        cli=CLI,
    shell:
        "{params.cli:q} measure {input.plan:q} --runs runs -o {output:q} > {log:q} 2>&1"
