# A batch of runs in one process: each simulated, parsed and measured, unless already done.
# `bdpbench plan` makes batches of unfinished runs; those that take longest go first.
# Inputs: <study>/<tier>/batches/<batch>.json, ns2/<build id>-<backend>.json.
# Outputs: <study>/<tier>/batches/<batch>.done (and runs/*/<run id>/).


rule simulate:
    input:
        batch=f"{FOLDER}/batches/{{batch}}.json",
        ns2=[] if NS2_IS_BUILT else ancient(NS2_MARKER),
    output:
        touch(f"{FOLDER}/batches/{{batch}}.done"),
    log:
        f"{FOLDER}/batches/{{batch}}.log",
    priority: lambda wildcards: round(JOBS[wildcards.batch]["cpu_s"])
    resources:
        # A job that was killed because it had requested too little requests more.
        runtime=lambda wildcards, attempt: attempt
        * JOBS[wildcards.batch]["runtime_min"],
        mem_mb=lambda wildcards, attempt: attempt * JOBS[wildcards.batch]["mem_mb"],
    params:
        cli=CLI,
        backend=TIER["backend"],
        options=["--keep-going"] if TIER["keep_going"] else [],
    shell:
        "{params.cli:q} simulate --backend {params.backend:q} {params.options}"
        " --batch {input.batch:q} > {log:q} 2>&1"
