# docker build -t sally . && docker run --rm sally            (the demo, bots only)
# docker run --rm -p 8000:8000 -v sally:/data sally serve --host 0.0.0.0 --database /data/sally.db
FROM python:3.11-slim AS build
# The image is pinned by tag; docs/reference/dependencies.md says how to pin it by digest.
WORKDIR /src
COPY pyproject.toml README.md LICENSE requirements.lock ./
COPY sally sally
# Every downloaded file must have a hash of requirements.lock (written by .ci/lock).
RUN python -m venv /opt/sally \
 && /opt/sally/bin/pip install --no-cache-dir --require-hashes -r requirements.lock \
 && /opt/sally/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 sally && mkdir /data && chown sally /data
COPY --from=build /opt/sally /opt/sally
ENV PATH=/opt/sally/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
ENTRYPOINT ["sally"]
CMD ["demo", "--bots"]
