# dbdyno in a container, with MariaDB for its private servers:
#   docker build -t dbdyno .
#   docker run --rm dbdyno                                   (dbdyno quick)
#   docker run --rm -v results:/home/dbdyno/measured/results dbdyno run experiments/quickstart.toml
FROM rust:1-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends make npm
WORKDIR /src
COPY . .
RUN make build

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates mariadb-client-core mariadb-server-core \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home dbdyno \
    && mkdir -p /home/dbdyno/measured/results \
    && chown -R dbdyno: /home/dbdyno/measured
COPY --from=build /src/target/release/dbdyno /usr/local/bin/dbdyno
COPY --from=build /src/experiments /home/dbdyno/measured/experiments
USER dbdyno
# Results are written here.
WORKDIR /home/dbdyno/measured
ENTRYPOINT ["dbdyno"]
CMD ["quick"]
