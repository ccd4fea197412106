# shellcheck shell=bash
# The world of the demo: a private PostgreSQL, the simulated stores, and the daemon.
#
# The simulator owns the clock and keeps its offset in a file, which PostgreSQL reads through
# libfaketime. The daemon runs as it is shipped: what is due, and all that it decides, goes by the
# database's clock. Only its log lines carry the machine's time.

fail() {
  printf '\ndemo: %s\n' "$1" >&2
  exit 1
}

# Runs "$@" again and again until it succeeds; false after $1 seconds.
within() {
  local limit=$((SECONDS + $1))
  shift
  until "$@"; do
    if [ "$SECONDS" -gt "$limit" ]; then return 1; fi
    sleep 0.1
  done
}

find_programs() {
  local program
  for program in renewald storesim; do
    [ -x "$bin/$program" ] || fail "there is no $bin/$program: run make demo, which builds it"
  done
  postgres=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)
  postgres=${postgres%/initdb}
  [ -x "$postgres/initdb" ] || fail "there is no PostgreSQL: run make deps"
  preload=$("$here/clock-preload" "$root") || fail "PostgreSQL cannot follow the simulated clock"
  on_the_clock=(
    env "LD_PRELOAD=$preload" "FAKETIME_TIMESTAMP_FILE=$root/clock" FAKETIME_NO_CACHE=1
    DONT_FAKE_MONOTONIC=1 FAKETIME_DONT_FAKE_MONOTONIC=1
  )
  # PostgreSQL refuses to run as root.
  as_postgres=()
  if [ "$(id -u)" -eq 0 ]; then
    as_postgres=(setpriv --reuid=postgres --regid=postgres --clear-groups)
  fi
}

# Starts "${@:2}" as "$1", apart from this terminal, and notes its process id.
start() {
  local name=$1
  shift
  setsid "$@" </dev/null >"$root/$name.log" 2>&1 &
  pids[$name]=$!
}

is_listening() { grep -qs '^storesim: listening on' "$root/storesim.log"; }

start_stores() {
  start storesim "$bin/storesim" serve --directory "$root/stores" --clock "$1" \
    --clock-file "$root/clock"
  within 15 is_listening || fail "the simulator does not start: $(cat "$root/storesim.log")"
  # As a person would keep them.
  chmod go-r "$root"/stores/{apple.p8,google.json,amazon.secret}
}

takes_connections() { sql 'SELECT' >/dev/null 2>&1; }

start_database() {
  mkdir "$root/pg"
  if [ "$(id -u)" -eq 0 ]; then chown postgres: "$root/pg"; fi
  (cd / && "${as_postgres[@]}" "$postgres/initdb" --pgdata="$root/pg/data" --username=postgres \
    --auth=trust --encoding=UTF8 --locale=C --no-sync --no-instructions) >"$root/initdb.log" 2>&1 ||
    fail "initdb failed: $(tail -n 3 "$root/initdb.log")"
  start postgres "${as_postgres[@]}" "${on_the_clock[@]}" "$postgres/postgres" -D "$root/pg/data" \
    -c listen_addresses='' -c unix_socket_directories="$root/pg" -c fsync=off -c timezone=UTC
  within 30 takes_connections || fail "PostgreSQL does not start: $(cat "$root/postgres.log")"
}

# The daemon works as a member of renewald_worker, the backend as one of renewald_app.
prepare_database() {
  write_configuration postgres >"$root/migrate.toml"
  renewald migrate --config "$root/migrate.toml" >"$root/migrate.log" 2>&1 ||
    fail "renewald migrate failed: $(cat "$root/migrate.log")"
  sql 'CREATE ROLE daemon LOGIN IN ROLE renewald_worker' || fail 'the daemon gets no role'
  sql 'CREATE ROLE backend LOGIN IN ROLE renewald_app' || fail 'the backend gets no role'
  write_configuration daemon >"$root/renewald.toml"
}

# The simulator's configuration, and what it cannot know: the database and what a product grants.
write_configuration() {
  cat <<TOML
[database]
url = "host=$root/pg user=$1 dbname=postgres"

[engine]
poll = "PT0.1S"  # the clock leaps here, from one check to the next

[[product]]
id = "$product"
entitlements = ["pro"]

TOML
  cat "$root/stores/renewald.toml"
}

has_shards() { [ "$(sql 'SELECT count(*) FROM renewald.shard WHERE owner IS NOT NULL')" = 256 ]; }

start_daemon() {
  start renewald "$bin/renewald" run --verbose --config "$root/renewald.toml"
  within 15 has_shards || fail "the daemon does not start"
}

# As user "$1" of the database, and untouched by settings of the person who calls.
as_user() {
  env -u PGOPTIONS -u PGPORT -u PGSERVICE "$postgres/psql" -h "$root/pg" -U "$1" -d postgres -Xq \
    -v ON_ERROR_STOP=1 "${@:2}"
}

# One line a row, columns with | between.
sql() { as_user postgres -At -c "$1"; }

renewald() { "$bin/renewald" "$@"; }

# Removes what libfaketime leaves in shared memory for a process.
forget() { rm -f "/dev/shm/faketime_shm_$1" "/dev/shm/sem.faketime_sem_$1"; }

stores() {
  local command=$1
  shift
  "$bin/storesim" "$command" --directory "$root/stores" "$@"
}

# Ends one of our processes: politely, with signal $2, then at the limit for good.
stop() {
  local pid=${pids[$1]:-}
  [ -n "$pid" ] || return 0
  has_ended() { ! kill -0 "$pid" 2>/dev/null; }
  kill -s "$2" "$pid" 2>/dev/null || true
  within 10 has_ended || kill -s KILL "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  forget "$pid"
}

# SIGINT is PostgreSQL's fast shutdown.
stop_world() {
  stop renewald TERM
  stop postgres INT
  stop storesim TERM
  rm -rf "$root"
}
