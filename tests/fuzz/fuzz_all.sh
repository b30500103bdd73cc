#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs all fuzz targets of a folder that pack.sh made, JOBS processes at a time, and prints for each target:
# executions, CPU seconds, crashes, timeouts, out-of-memory ends, broken laws. A process that ends early (it found
# something) is started again until the time is over.
#
#   fuzz_all.sh SECONDS JOBS [FOLDER]      FOLDER: what was found, and the logs; default ./result
#
# Exit status: 0 nothing found, 1 something found, 2 wrong usage or a target that does not run.
set -u
[ $# -ge 2 ] || { sed -n '3,9p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
seconds=$1 jobs=$2 result=${3:-result}
mkdir -p "$result/logs" "$result/found" || exit 2
result=$(cd "$result" && pwd)
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
# Of eight processes: transpiler, printer and parser get two each, verifier and lexer one.
order=(transpiler printer parser verifier lexer printer parser transpiler)
end=$(($(date +%s) + seconds))
export ASAN_OPTIONS=detect_leaks=1:symbolize=0 UBSAN_OPTIONS=symbolize=0 TIMEFORMAT='cpu %U %S'

# Where processes may not be traced, the leak check cannot run: then without it, and the summary says so.
echo ".version 8.0" >"$scratch/probe.ptx"
leaks=
if "$here/bin/parser" "$scratch/probe.ptx" 2>&1 | grep -aq 'LeakSanitizer has encountered a fatal error'; then
    ASAN_OPTIONS=detect_leaks=0:symbolize=0
    leaks="leaks are not looked for: the processes may not be traced here"
fi
"$here/bin/parser" "$scratch/probe.ptx" >"$result/logs/probe.txt" 2>&1 || { cat "$result/logs/probe.txt" >&2; exit 2; }

# One process slot: new inputs of a target are shared by its processes through one folder.
slot() {
    local target=$1 number=$2 round=0 left
    mkdir -p "$scratch/$target"
    while left=$((end - $(date +%s))) && [ "$left" -gt 2 ]; do
        round=$((round + 1))
        { time "$here/bin/$target" -max_total_time="$left" -timeout=10 -rss_limit_mb=2048 -max_len=8192 -reload=20 -dict="$here/words.dict" \
            -seed=$((number * 1000 + round)) -artifact_prefix="$result/found/$target-" -print_final_stats=1 \
            "$scratch/$target" "$here/seeds"; } >"$result/logs/$target-$number-$round.log" 2>&1
    done
}
for ((i = 0; i < jobs; ++i)); do slot "${order[i % 8]}" "$i" & done
wait

status=0
printf '%-11s %8s %12s %10s %8s %9s %6s %6s\n' target processes executions cpu_seconds crashes timeouts oom laws | tee "$result/summary.txt"
for target in lexer parser printer transpiler verifier; do
    logs=("$result/logs/$target"-*.log)
    [ -e "${logs[0]}" ] || continue
    executions=$(cat "${logs[@]}" | grep -a '^stat::number_of_executed_units:' | awk '{ n += $2 } END { print n + 0 }')
    cpu=$(cat "${logs[@]}" | grep -a '^cpu ' | awk '{ s += $2 + $3 } END { printf "%.0f", s }')
    laws=$(cat "${logs[@]}" | grep -ac '^law broken:')
    crashes=$(($(find "$result/found" -name "$target-crash-*" -o -name "$target-leak-*" | wc -l)))
    timeouts=$(find "$result/found" -name "$target-timeout-*" | wc -l)
    oom=$(find "$result/found" -name "$target-oom-*" | wc -l)
    printf '%-11s %8s %12s %10s %8s %9s %6s %6s\n' "$target" "${#logs[@]}" "$executions" "$cpu" "$crashes" "$timeouts" "$oom" "$laws" | tee -a "$result/summary.txt"
    [ "$executions" -gt 0 ] || status=2
    [ $((crashes + timeouts + oom + laws)) -eq 0 ] || [ $status -eq 2 ] || status=1
done
cat "$result"/logs/*.log | grep -a '^law broken:\|runtime error:\|^SUMMARY:' | sed 's/0x[0-9a-f]*/…/g' | sort | uniq -c | sort -rn | head -n 20 | tee -a "$result/summary.txt"
[ -z "$leaks" ] || echo "$leaks" | tee -a "$result/summary.txt"
exit $status
