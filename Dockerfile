# docker build -t sally . && docker run --rm sally            (the demo, bots only)
# docker run --rm -p 8000:8000 -v sally:/data sally serve --host 0.0.0.0 --database /data/sally.db
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY sally sally
RUN python -m venv /opt/sally \
 && /opt/sally/bin/pip install --no-cache-dir -c constraints.txt '.[web,postgres]'

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
