#!/bin/sh
# Stands for dbdyno in the tests of src/store.rs: a command with the word `broken` fails, another one makes its results
# directory and writes its words there, and a report has an equivalence without runs.
set -eu

for last; do :; done
case " $* " in
*' broken '*)
    echo 'error: no' >&2
    exit 3
    ;;
esac
case $1 in
report)
    cat >"$last" <<'JSON'
{
  "verdict": {
    "measure": "throughput",
    "baseline": {"a": "1"},
    "comparisons": [{"decision": "equivalent", "ratio": {"estimate": 1.0, "low": 0.99, "high": 1.01}}]
  },
  "runs": []
}
JSON
    ;;
*)
    mkdir "$3"
    echo "$*" >"$3/words"
    ;;
esac
