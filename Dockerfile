# The image of a Curator server. Built from the repository's root:
#
#     docker build --tag curator .
#
# How to run it: docs/operations/container.md. `make image-check` runs these very steps
# in a plain directory, where no container engine is at hand.
#
# The base is named by tag. A digest would be better, and `docker build` can be given one:
# --build-arg BASE=python:3.13-slim@sha256:... . It is not written here because a digest
# that nobody renews keeps the base's old faults; take that of the day and record it.
ARG BASE=python:3.13-slim

# ---- build: the environment, without pip and with nothing that compiles ----
FROM ${BASE} AS build

WORKDIR /build
# binutils has strip, for `slim` below. Its version is the base's: nothing of it stays.
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install --yes --no-install-recommends binutils && \
    rm -rf /var/lib/apt/lists/*
RUN python -m venv --without-pip /opt/curator
COPY requirements/postgres.txt requirements/backups.txt requirements/
RUN python -m pip --python /opt/curator/bin/python install --no-cache-dir --no-deps \
      --require-hashes --only-binary :all: --requirement requirements/postgres.txt \
      --requirement requirements/backups.txt

COPY pyproject.toml setup.py README.md LICENSE ./
COPY privacy privacy
COPY query_lang query_lang
COPY mechanisms mechanisms
COPY budget budget
COPY engines engines
COPY release release
COPY upstream upstream
COPY server server
COPY clients/python clients/python
COPY clients/r clients/r
RUN python -m pip --python /opt/curator/bin/python install --no-cache-dir --no-deps \
      --no-index --no-build-isolation . ./clients/python

# ---- slim: no tests of packages, no symbols for debuggers, no bytecode of what is not read ----
# --build-arg MODELS=yes keeps SciPy and scikit-learn, which train two kinds of models.
ARG MODELS=no
COPY scripts/image/slim.py slim.py
COPY scripts/image/imports.py imports.py
RUN python slim.py /opt/curator "${MODELS:-no}"

# ---- what runs: the base, the environment, one user that owns three folders ----
FROM ${BASE}

LABEL org.opencontainers.image.title="curator" \
      org.opencontainers.image.description="A differentially private query server for medical data" \
      org.opencontainers.image.licenses="Apache-2.0"

RUN groupadd --system --gid 10001 curator && \
    useradd --system --uid 10001 --gid curator --home-dir /data --no-create-home \
      --shell /usr/sbin/nologin curator && \
    mkdir -p /data /anchor /import && \
    python -m pip uninstall --yes --quiet pip && \
    chmod 0700 /data /anchor && \
    chown curator:curator /data /anchor

COPY --from=build /opt/curator /opt/curator
COPY scripts/image/healthcheck.py /opt/curator/healthcheck.py

# Nothing is written outside /data, /anchor and /tmp: the root can be read-only. No code
# is searched outside the environment, not even in /data, where the command starts.
ENV PATH=/opt/curator/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONSAFEPATH=1 \
    PYTHONNOUSERSITE=1 \
    CURATOR_DATA=/data \
    CURATOR_ANCHOR=/anchor/curator.anchor \
    CURATOR_IMPORT=/import \
    CURATOR_HOST=0.0.0.0 \
    CURATOR_PORT=8000

WORKDIR /data
VOLUME ["/data", "/anchor", "/import"]
EXPOSE 8000
USER 10001:10001

# The anchor is another volume than the data, on another disk if it can be.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-I", "/opt/curator/healthcheck.py"]

ENTRYPOINT ["curator"]
CMD ["serve"]
