# The image of a Curator server, built without a network from this bundle's wheels:
#
#     docker load --input python.tar        # the base, saved where there is a network
#     docker build --network none --tag curator:VERSION --file image/Dockerfile .
#
ARG BASE=python:3.13-slim

# ---- build: the environment, from the wheels that lie here ----
FROM ${BASE} AS build

WORKDIR /build
COPY requirements.txt requirements.txt
COPY wheels wheels
RUN python -m venv --without-pip /opt/curator && \
    python -m pip --python /opt/curator/bin/python install --no-cache-dir --no-deps \
      --no-index --require-hashes --find-links=wheels --requirement requirements.txt
