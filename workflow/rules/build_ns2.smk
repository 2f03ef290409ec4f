# Build ns-2.35 with the patches of this checkout, natively or as a Docker image; `bdpbench run` does
# so before it calls Snakemake.
# Inputs: none (ns2/ is covered by the build id). Outputs: ns2/<build id>-<backend>.json.


localrules:
    build_ns2,


rule build_ns2:
    output:
        NS2_MARKER,
    log:
        "ns2/build.log",
    params:
        cli=CLI,
        backend=TIER["backend"],
    shell:
        "{params.cli:q} ns2 build --backend {params.backend:q} --marker {output:q} > {log:q} 2>&1"
