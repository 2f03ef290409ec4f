# bdpbench in a container: `docker build -t bdpbench .`, then
# `docker run --rm --read-only --tmpfs /tmp -v "$PWD/results:/results" bdpbench run`.
# Stages: build (compilers), ns2 (only the binary, for the Docker backend, which needs only ns2/ of this
# folder), native (the C code that reads and sums traces), and the complete tool.

# Pinned by digest; what apt installs in it is recorded by ns-2's build (ns-bdpbench.json).
ARG BASE=debian:bookworm-slim@sha256:96e378d7e6531ac9a15ad505478fcc2e69f371b10f5cdf87857c4b8188404716

FROM ${BASE} AS build
COPY ns2 /opt/bdpbench/ns2
RUN bash /opt/bdpbench/ns2/build.sh --install-deps --prefix /opt/bdpbench/.bdpbench/ns2 \
    && ln -s /opt/bdpbench/.bdpbench/ns2/"$(bash /opt/bdpbench/ns2/build.sh --print-id)" \
        /opt/bdpbench/.bdpbench/ns2/current

FROM ${BASE} AS ns2
ARG BASE
LABEL org.opencontainers.image.title="bdpbench-ns2" \
    org.opencontainers.image.description="ns-2.35 with the congestion control variants of bdpbench" \
    org.opencontainers.image.base.name="${BASE}"
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        libtcl8.6 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/bdpbench/.bdpbench/ns2 /opt/bdpbench/.bdpbench/ns2
USER nobody

FROM build AS native
COPY pipeline/bdpbench/compiled pipeline/bdpbench/metrics/packets/packets.c /opt/bdpbench/compiled/
RUN bash /opt/bdpbench/compiled/build.sh /opt/bdpbench/.bdpbench/compiled \
    /opt/bdpbench/compiled/packets.c

# g++ compiles protocols that are folders; their libraries are kept with the results.
FROM ns2 AS bdpbench
LABEL org.opencontainers.image.title="bdpbench" \
    org.opencontainers.image.description="Reproduces studies of TCP on high bandwidth-delay-product paths"
USER root
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        python3 python3-venv g++ \
    && rm -rf /var/lib/apt/lists/*
COPY pipeline/requirements.lock /opt/bdpbench/pipeline/requirements.lock
RUN python3 -m venv /opt/bdpbench/.venv \
    && /opt/bdpbench/.venv/bin/pip install --no-cache-dir --disable-pip-version-check \
        --require-hashes --only-binary :all: --no-binary connection-pool \
        -r /opt/bdpbench/pipeline/requirements.lock
COPY --from=native /opt/bdpbench/.bdpbench/compiled /opt/bdpbench/.bdpbench/compiled
COPY . /opt/bdpbench
RUN /opt/bdpbench/.venv/bin/python -m compileall -q /opt/bdpbench/pipeline \
    && useradd --uid 1000 --create-home bdpbench \
    && install -d -o bdpbench -g bdpbench /results \
    && ln -s /results/.libraries /opt/bdpbench/.bdpbench/libraries
ENV PATH=/opt/bdpbench/.venv/bin:$PATH \
    PYTHONPATH=/opt/bdpbench/pipeline \
    BDPBENCH_RESULTS=/results
WORKDIR /results
# Starts as root only to hand over /results, then becomes an ordinary user for good.
ENTRYPOINT ["/opt/bdpbench/workflow/container-entrypoint.sh"]
CMD ["run"]
