#!/bin/sh
# Entry of the stand-in for the public image of Postgres: of its variables, POSTGRES_PASSWORD and POSTGRES_DB.
set -eu
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -g postgres -m 0700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf %s "${POSTGRES_PASSWORD:?}" >/tmp/password
  initdb --pgdata="$PGDATA" --username=postgres --pwfile=/tmp/password --auth-host=scram-sha-256 --auth-local=trust >/dev/null
  rm /tmp/password
  if [ -n "${POSTGRES_DB:-}" ]; then
    echo "CREATE DATABASE \"$POSTGRES_DB\"" | postgres --single -D "$PGDATA" postgres >/dev/null
  fi
fi
exec "$@" -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql,/tmp
