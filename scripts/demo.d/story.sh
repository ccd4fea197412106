# shellcheck shell=bash
# How the story is told, and how it is held against what the daemon wrote.

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' yellow=$'\e[33m' faint=$'\e[2m' plain=$'\e[0m'
else
  bold='' green='' red='' yellow='' faint='' plain=''
fi
# The last event told, and how many.
cursor=0
told=0

title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }

note() { printf '  %s%s%s\n' "$faint" "$1" "$plain"; }

# Something that happens in the world, now.
happens() {
  # The clock is set to the second: rounded, so that half past is not a minute early.
  printf '\n%s%s%s  %s\n' "$bold" "$(sql "SELECT (now() + interval '1 second')::date")" \
    "$plain" "$1"
}

# Moves the one clock forward.
set_clock() { stores clock --set "$1" >/dev/null || fail "the clock cannot be moved to $1"; }

# When the next check is due, where that is before "$1".
next_due() {
  sql "SELECT to_char((min(next_check_at) + interval '1 second') AT TIME ZONE 'UTC',
      'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')
    FROM renewald.purchases WHERE next_check_at < '$1'::timestamptz - interval '1 second'"
}

nothing_is_due() {
  [ "$(sql 'SELECT count(*) FROM renewald.purchases WHERE next_check_at <= now()')" = 0 ]
}

# Lets time pass as the daemon lives it: from each check that is due to the next, to "$1".
until_time() {
  local due
  while due=$(next_due "$1") && [ -n "$due" ]; do
    set_clock "$due"
    within 15 nothing_is_due || fail "what is due at $due is not checked"
  done
  set_clock "$1"
}

# "$1" buys at store "$2"; the backend submits what the app gave it. Prints the purchase's number.
buys() {
  local answer token store_user
  answer=$(stores purchase --store "$2" --product "$product" --period P1M --user "$1") ||
    fail "$1 cannot buy at $2"
  token=$(member token "$answer")
  store_user=$(member store_user_id "$answer")
  as_user backend -v user="$1" -v store="$2" -v app=com.example.reader -v product="$product" \
    -v token="$token" -v store_user="$store_user" >/dev/null <<'SQL' || fail "submit failed for $1"
SELECT renewald.submit(:'user', :'store', :'app', :'product', :'token', nullif(:'store_user', ''))
SQL
  sed -E 's/.*"id":([0-9]+).*/\1/' <<<"$answer"
}

# Buys and submits for "$1" people at once, member-1 to member-$1, on Google Play.
crowd_buys() {
  stores purchase --store google --product "$product" --period P1M --count "$1" --json \
    >"$root/crowd.json" || fail 'the crowd cannot buy'
  as_user backend >/dev/null <<SQL || fail 'submit failed for the crowd'
\set answer \`cat $root/crowd.json\`
SELECT renewald.submit('member-' || n, 'google', 'com.example.reader', '$product', made->>'token')
FROM jsonb_array_elements(:'answer'::jsonb->'purchases') WITH ORDINALITY AS made (made, n)
SQL
}

crowd_events() { sql "SELECT count(*) FROM renewald.events WHERE user_id LIKE 'member-%'"; }

has_begun() { [ "$(crowd_events)" -ge 20 ]; }

crowd_is_done() { [ "$(crowd_events)" -ge "$crowd" ] && nothing_is_due; }

# The text member "$1" of a flat JSON answer.
member() { sed -nE 's/.*"'"$1"'":"([^"]*)".*/\1/p' <<<"$2"; }

does() { stores act "$@" >/dev/null || fail "the simulator refuses: $*"; }

# Reads the events after the last one told.
read_events() {
  rows=$(sql "SELECT id, user_id, kind, reason, coalesce(entitlement, ''),
      to_char(created_at, 'YYYY-MM-DD HH24:MI'),
      CASE WHEN kind = 'revoke' THEN 'since ' || to_char(effective_at, 'YYYY-MM-DD HH24:MI')
        WHEN detail->'false_renewal' = 'true' THEN 'moved unpaid, to ' || expires_at::date
        ELSE 'until ' || expires_at::date END
    FROM renewald.events WHERE id > $cursor ORDER BY id")
}

has_settled() {
  nothing_is_due || return 1
  read_events
  [ "$(grep -c . <<<"$rows")" -ge "$awaited" ]
}

# The events that must follow, each once and no others: a line `user kind reason` each. With none,
# everything due is asked about and nothing may follow.
tells() {
  local expected actual
  awaited=$#
  within "${patience:-15}" has_settled || read_events
  show_events
  expected=$(printf '%s\n' "$@" | sed '/^$/d' | LC_ALL=C sort)
  actual=$(awk -F '|' 'NF { print $2, $3, $4 }' <<<"$rows" | LC_ALL=C sort)
  if [ "$expected" != "$actual" ]; then
    fail "not the events that must follow:
$(diff <(sed '/^$/d' <<<"$expected") <(sed '/^$/d' <<<"$actual") |
      sed -n 's/^< /  missing: /p; s/^> /  surplus: /p')"
  fi
  told=$((told + awaited))
}

show_events() {
  local id at user kind what reason until colour
  while IFS='|' read -r id user kind reason what at until; do
    [ -n "$id" ] || continue
    cursor=$id
    case $kind in
      grant) colour=$green ;;
      revoke) colour=$red ;;
      *) colour=$yellow ;;
    esac
    printf '  %s%s%s  %-4s %s%-6s%s %-3s %-17s %s\n' "$faint" "$at" "$plain" "$user" "$colour" \
      "$kind" "$plain" "$what" "$reason" "$until"
  done <<<"$rows"
}

# Holds the condition "$1" (SQL) until it is true, with a limit.
comes_true() {
  is_true() { [ "$(sql "SELECT coalesce(($1), false)")" = t ]; }
  within 15 is_true "$1" || fail "never came true: $1"
}

# Shows a statement and what the backend's role gets for it.
asks() {
  printf '  %s%s%s\n' "$bold" "$1" "$plain"
  as_user backend -P footer=off -c "$1" | sed '/^$/d; s/^/  /'
}

# Shows a command of renewald and what it prints.
runs() {
  printf '\n%s$ renewald %s%s\n' "$bold" "$*" "$plain"
  renewald "$@" --config "$root/renewald.toml"
}
