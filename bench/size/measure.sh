#!/usr/bin/env bash
# Measures how far the predictions of `dbdyno size` are from targets that were not measured for them: 30 emulated
# targets (five workloads with six each), and the data/memory at which the throughput halves.
#
# usage: bench/size/measure.sh [DBDYNO]    (default: what `make build` builds)
# Environment: RESULTS (results/size), WORKLOADS (all five), BLOCKS (3), and for a short try WARMUP_S and SECONDS_EACH,
# the warm-up and the measurement of all runs in seconds.
# Prints tables in Markdown, with the targets of issue 42. Takes about an hour, and longer if runs are disturbed: the
# experiments repeat these. The same command continues where it was interrupted: what is in RESULTS is not measured
# again. Needs python3, root privileges and control groups (docs/experiment-file.md), and two or more CPUs. `make bench`
# leaves it out, because of its time. Other work on any processor makes the figures worse.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
need python3 python3
dbdyno=$(find_dbdyno "${1:-}")
results=${RESULTS:-results/size} blocks=${BLOCKS:-3}
read -ra workloads <<<"${WORKLOADS:-uniform-read-only zipf-read-only uniform-mixed zipf-mixed tpcc}"

# The buffer pools of the demands, and those that only emulated targets have. All data fits into the largest one.
measured_pools=(48M 96M 128M) all_in_memory=320M
held_out_pools=(80M 112M)
# `size --grow` does without this one, so that it has to predict across both held-out buffer pools.
middle_pool=96M
# Those of the targets that lie near the cliff. With fewer CPUs, fewer reads per second are half of the throughput, so
# that the disk can do them.
cliff_cpus=0.5
# As dbdyno counts them.
cpus=$(grep -c '^cpu[0-9]' /proc/stat)

# Sets the settings of a workload. The targets with all CPUs have `reads` per second. The warm-up fills the larger pool.
choose() { # WORKLOAD
    data='oltp = { tables = 1, table_size = "640k" }' # about 150 MiB
    # The exponent that `zipfian` has without rand_zipfian_exp is 0.8.
    zipf=0 warmup_s=6 seconds=5
    case $1 in
    uniform-read-only)
        load='oltp = { script = "read_only", rand_type = "uniform" }'
        reads=1500
        ;;
    zipf-read-only)
        load='oltp = { script = "read_only", rand_type = "zipfian" }'
        zipf=0.8 warmup_s=9
        reads=900
        ;;
    uniform-mixed)
        load='oltp = { script = "read_write", rand_type = "uniform" }'
        reads=1500
        ;;
    zipf-mixed)
        load='oltp = { script = "read_write", rand_type = "zipfian" }'
        zipf=0.8 warmup_s=9
        reads=900
        ;;
    tpcc)
        data='tpcc = { warehouses = 2 }' # about 190 MiB
        # Deferred deliveries that a limit holds up would run after the measurement.
        load='tpcc = { delivery = "inline", check = "off" }'
        warmup_s=11 seconds=7
        reads=1000
        ;;
    *)
        echo "error: no workload $1" >&2
        echo 'hint: uniform-read-only, zipf-read-only, uniform-mixed, zipf-mixed or tpcc' >&2
        exit 2
        ;;
    esac
    warmup_s=${WARMUP_S:-$warmup_s} seconds=${SECONDS_EACH:-$seconds}
}

# Prints words as levels of a factor: "48M", "96M".
levels() { # WORD...
    local separated
    separated=$(printf '"%s", ' "$@")
    echo "${separated%, }"
}

# Prints the settings of the server and the load of the chosen workload.
settings() {
    cat <<EOF_SETTINGS
[server.set]
innodb_buffer_pool_size = "{pool}"
innodb_flush_method = "O_DIRECT" # otherwise the page cache answers reads
innodb_buffer_pool_load_at_startup = "OFF"
innodb_buffer_pool_dump_at_shutdown = "OFF"
innodb_flush_log_at_trx_commit = 2 # otherwise flushes of the log limit the concurrency series
innodb_log_file_size = "256M"
character_set_server = "latin1"
performance_schema = 0

[data]
$data
restore = "per-run"

[load]
$load
warmup = "${warmup_s}s"
duration = "${seconds}s"
EOF_SETTINGS
}

# Sets `cliff_reads`, which depends on the machine: the reads per second with which the throughput of the chosen workload
# halves in the middle between the held-out buffer pools.
calibrate() { # WORKLOAD
    local calibration="$results/$1.calibration"
    if [ ! -e "$calibration/report.html" ]; then
        cat >"$calibration.toml" <<EOF_CALIBRATION
# Written by bench/size/measure.sh.
format = 1
question = "With how many reads per second does the throughput halve ($1)?"
seed = 1
repeats = 1

[matrix]
pool = [$(levels "${held_out_pools[@]}"), "$all_in_memory"]

[server]
run = "mariadb-10.11"
restart = "per-run"
limit = { cpus = "$cliff_cpus" }

$(settings)
connections = 8
EOF_CALIBRATION
        rm -rf "$calibration"
        echo "$1, calibration:" >&2
        "$dbdyno" run "$calibration.toml" --results "$calibration" >&2
    fi
    cliff_reads=$(python3 "$here/cliff_reads.py" "$calibration" "$all_in_memory")
}

# Prints the experiment of the chosen workload: 7 combinations for the demands and 6 emulated targets, in the same
# blocks. `dbdyno size FILE --target` would emulate one target only.
experiment() { # WORKLOAD
    local measured held_out
    measured=$(levels "${measured_pools[@]}")
    held_out=$(levels "${held_out_pools[@]}")
    cat <<EOF_EXPERIMENT
# Written by bench/size/measure.sh.
format = 1
question = "How far are the predictions for six targets from their throughput ($1)?"
seed = 1
repeats = $blocks
order = "random"

[matrix]
# \`dbdyno size\` recognises an emulated target by the level "yes". It is no setting by itself, and stands for no limit.
emulated = [{ label = "no", value = "none" }, { label = "yes", value = "none" }]
pool = [$measured, $held_out, "$all_in_memory"]
reads = ["none", "$reads", "$cliff_reads"]
cpus = ["none", "1", "0.5"]
connections = [1, 4, 8, 32]

# The demands: no limits, and a concurrency series with all data in memory.
[[exclude]]
emulated = "no"
reads = ["$reads", "$cliff_reads"]

[[exclude]]
emulated = "no"
cpus = ["1", "0.5"]

[[exclude]]
emulated = "no"
pool = [$held_out]

[[exclude]]
emulated = "no"
pool = [$measured]
connections = [1, 4, 32]

# The targets with limited reads: the held-out buffer pools with all CPUs, and with $cliff_cpus CPU.
[[exclude]]
emulated = "yes"
reads = ["$reads", "$cliff_reads"]
pool = [$measured, "$all_in_memory"]

[[exclude]]
emulated = "yes"
reads = "$reads"
cpus = ["1", "0.5"]

[[exclude]]
emulated = "yes"
reads = "$cliff_reads"
cpus = ["none", "1"]

[[exclude]]
emulated = "yes"
reads = ["$reads", "$cliff_reads"]
connections = [1, 4, 32]

# The targets with limited CPUs only: all data in memory. More connections than these take CPU time to switch between
# them.
[[exclude]]
emulated = "yes"
reads = "none"
pool = [$measured, $held_out]

[[exclude]]
emulated = "yes"
reads = "none"
cpus = "none"

[[exclude]]
emulated = "yes"
reads = "none"
connections = [1, 8, 32]

[server]
run = "mariadb-10.11"
restart = "per-run"
# Every factor must be used; the values of \`emulated\` are no limit.
limit = { read_iops = "{reads}", cpus = "{cpus}", write_iops = "{emulated}" }

$(settings)
connections = "{connections}"

[disturbed]
repeats = "50 %"
EOF_EXPERIMENT
}

# Measures what is missing of a workload.
measure() { # WORKLOAD
    local resume=()
    # A directory without this file has no results, and none of another experiment are continued.
    if [ -e "$results/$1/experiment.toml" ]; then
        resume=(--resume)
    fi
    echo "$1:" >&2
    "$dbdyno" run "$results/$1.toml" --results "$results/$1" "${resume[@]}" >&2
}

# Writes an answer of `dbdyno size` for the chosen workload. An undecided one (exit code 5) is an answer, too.
answer() { # FILE WORD...
    local file=$1 code=0
    shift
    "$dbdyno" size "$@" --zipf "$zipf" --format json >"$file" || code=$?
    if [ "$code" -ne 0 ] && [ "$code" -ne 5 ]; then
        exit "$code"
    fi
}

# Writes the answers for the six targets, and the one for growing data near the cliff.
predict() { # WORKLOAD
    local answers="$results/$1.answers" pool targets=() number=0 target record records=() first_line
    for pool in "${held_out_pools[@]}"; do
        targets+=("cpus=$cpus,read_iops=$reads,buffer_pool=$pool")
        targets+=("cpus=$cliff_cpus,read_iops=$cliff_reads,buffer_pool=$pool")
    done
    targets+=("cpus=1,buffer_pool=$all_in_memory" "cpus=0.5,buffer_pool=$all_in_memory")
    rm -rf "$answers"
    mkdir "$answers"
    for target in "${targets[@]}"; do
        number=$((number + 1))
        answer "$answers/target-$number.json" "$results/$1" --target "$target"
    done
    # Not the runs that were set aside: their names have a dot more.
    for record in "$results/$1"/run-????.jsonl; do
        first_line=$(head -n 1 "$record")
        if [[ $first_line == *'"emulated":"no"'* && $first_line != *"\"pool\":\"$middle_pool\""* ]]; then
            records+=("$record")
        fi
    done
    answer "$answers/growth.json" "${records[@]}" --grow 1%/month \
        --target "cpus=$cliff_cpus,read_iops=$cliff_reads,buffer_pool=$all_in_memory"
}

# An error in any of the experiments shall not cost the measurements of those before it.
mkdir -p "$results"
for workload in "${workloads[@]}"; do
    choose "$workload"
    calibrate "$workload"
    experiment "$workload" >"$results/$workload.toml"
    "$dbdyno" run "$results/$workload.toml" --plan >/dev/null
done
for workload in "${workloads[@]}"; do
    choose "$workload"
    measure "$workload"
    predict "$workload"
done
python3 "$here/table.py" "$results" "${workloads[@]}"
