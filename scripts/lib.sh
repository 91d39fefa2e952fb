# Shared by the bash scripts of this folder: where things are, what is out of date, and parts with a
# heading, a time and a verdict. It is sourced, never run. It installs nothing: that is scripts/need.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# One target folder for tests, lint and release, whatever the caller's environment says: the contract
# names target/release/stoa, and two folders would compile every dependency twice.
export CARGO_TARGET_DIR="$root/target"

stamps=$root/target/stamps

fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# signature PATH… : one line that changes when a file under the paths is added, removed or written.
# Names, sizes and times only, so that a run with nothing to do costs milliseconds. What a build
# itself writes is left out.
signature() {
  local there=() it
  for it in "$@"; do [ -e "$it" ] && there+=("$it"); done
  [ ${#there[@]} -gt 0 ] || { echo none; return; }
  find "${there[@]}" \( -name node_modules -o -name dist -o -name target -o -name coverage \
    -o -name out -o -name test-results -o -name '.vite' -o -name '*.tsbuildinfo' -o -name '.*.sw?' \) -prune \
    -o -type f -printf '%p %s %T@\n' | LC_ALL=C sort | cksum
}

# is_current STAMP SIGNATURE: whether the stamp says that this very signature was built.
is_current() { [ -f "$stamps/$1" ] && [ "$(<"$stamps/$1")" = "$2" ]; }

# set_current STAMP SIGNATURE
set_current() { mkdir -p "$stamps"; printf '%s\n' "$2" >"$stamps/$1"; }

# npm_ci DIR: installs what DIR/package-lock.json says, only when the lock is another than last time.
npm_ci() {
  local dir=$1 stamp sum
  [ -f "$dir/package-lock.json" ] || fail "$dir/package-lock.json is missing: run npm install in $dir once and commit the lock"
  stamp=npm-${dir//\//-}
  sum=$(cksum <"$dir/package-lock.json")
  if is_current "$stamp" "$sum" && [ -d "$dir/node_modules" ]; then return; fi
  rm -f "$stamps/$stamp"
  echo "npm ci in $dir"
  (cd "$dir" && npm ci --no-audit --no-fund --loglevel=error)
  set_current "$stamp" "$sum"
}

# python_env DIR REQUIREMENTS: a Python environment with what the file pins, only when the file is another than last
# time. Every download must have a checksum of the file, and nothing is built: a build may run anything.
python_env() {
  local dir=$1 stamp=python-${1##*/} sum
  sum=$(cksum <"$2")
  if is_current "$stamp" "$sum" && [ -x "$dir/bin/python" ]; then return; fi
  rm -rf "$dir" "${stamps:?}/$stamp"
  echo "pip install -r $2"
  python3 -m venv "$dir"
  "$dir/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes --only-binary :all: -r "$2"
  set_current "$stamp" "$sum"
}

# Parts. `part NAME COMMAND…` prints a heading, runs the command in a shell of its own, and keeps the
# verdict and the time; `parts_end` prints them all, tells once more what failed, and answers whether every part passed.
part_names=() part_times=() part_results=() part_failures=()
fail_fast=false

part() {
  local name=$1 start=$SECONDS log status; shift
  printf '\n== %s\n' "$name"
  log=$(mktemp)
  # Not `( … ) || …`: that would switch `set -e` off inside the part.
  set +e
  # A terminal shows progress only to who writes to it.
  if [ -t 1 ]; then ( set -e; "$@" ); status=$?; else ( set -e; "$@" ) 2>&1 | tee "$log"; status=${PIPESTATUS[0]}; fi
  set -e
  part_end "$name" "$status" $((SECONDS - start)) "$log"
  rm -f "$log"
}

# failures LOG: what a part says has failed, each with what is indented below it; where it says nothing of the kind, its end.
# A long log is kept by its end, far from the part that failed.
failures() {
  awk '/^failed[ :]/ { left = 16 } /^[^ ]/ && !/^failed[ :]/ { left = 0 } left-- > 0 { found = 1; print substr($0, 1, 300) }
    END { exit !found }' "$1" || tail -n 16 "$1" | cut -c 1-300
}

# part_end NAME STATUS SECONDS LOG
part_end() {
  local result=passed
  if [ "$2" -ne 0 ]; then
    result=failed
    [ ! -s "$4" ] || part_failures+=("$1"$'\n'"$(failures "$4")")
  fi
  part_names+=("$1") part_results+=("$result") part_times+=("$3")
  printf -- '-- %s %s after %s\n' "$1" "$result" "$(minutes "$3")"
  if [ $result = failed ] && $fail_fast; then parts_end; exit 1; fi
}

# parts_both ROW ROW: two rows of parts at once, since each leaves the processor idle now and then. A row names its
# parts as they follow one another, with spaces between; `NAME=COMMAND` where the command has another name. What those of
# the second print appears after the first has ended.
parts_both() {
  local log it start other n=0 stops=$fail_fast status seconds
  if [ -z "$1" ]; then set -- "$2" ""; fi
  log=$(mktemp -d)
  (
    set +e
    for it in $2; do
      start=$SECONDS
      ( set -e; ${it#*=} ) >"$log/$n" 2>&1
      echo "$? $((SECONDS - start))" >"$log/$((n++)).end"
    done
  ) &
  other=$!
  fail_fast=false
  for it in $1; do part "${it%%=*}" "${it#*=}"; done
  wait $other
  for it in $2; do
    printf '\n== %s\n' "${it%%=*}"
    cat "$log/$n"
    read -r status seconds <"$log/$((n++)).end"
    part_end "${it%%=*}" "$status" "$seconds" "$log/$((n - 1))"
  done
  rm -rf "$log"
  fail_fast=$stops
  if $stops && [[ " ${part_results[*]} " = *" failed "* ]]; then parts_end; exit 1; fi
}

parts_end() {
  local i failed=0
  printf '\n== Summary\n'
  for i in "${!part_names[@]}"; do
    printf '  %-14s %8s  %s\n' "${part_names[i]}" "$(minutes "${part_times[i]}")" "${part_results[i]}"
    [ "${part_results[i]}" = passed ] || failed=$((failed + 1))
  done
  printf '  %-14s %8s\n\n' together "$(minutes $SECONDS)"
  if [ ${#part_failures[@]} -gt 0 ]; then printf 'failed in %s\n\n' "${part_failures[@]}"; fi
  printf '%d passed, %d failed\n' $((${#part_names[@]} - failed)) $failed
  [ $failed -eq 0 ]
}

minutes() { printf '%dm%02ds' $(($1 / 60)) $(($1 % 60)); }
