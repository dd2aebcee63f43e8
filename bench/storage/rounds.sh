# shellcheck shell=bash
# Functions of the scripts beside it that source this file: a directory on the disk, and ratios over rounds.

# Makes a directory on the disk and removes it at the end.
work_on_disk() {
    work=$(mktemp -d "${DISK:-/var/tmp}/dbdyno-bench-XXXXXX")
    trap 'rm -rf "$work"' EXIT
}

# Reads lines "OURS THEIRS"; prints the geometric mean of the ratios with its 95 % interval (Student's t on logarithms).
ratio() {
    awk '
        BEGIN { split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ") }
        { value[NR] = log($1 / $2); sum += value[NR] }
        END {
            mean = sum / NR
            for (i = 1; i <= NR; i++) squares += (value[i] - mean) ^ 2
            if (NR < 2) { printf "%.3f (one round: no interval)", exp(mean); exit }
            half = (NR - 1 in t ? t[NR - 1] : 2.0) * sqrt(squares / (NR - 1) / NR)
            printf "%.3f (%.3f to %.3f)", exp(mean), exp(mean - half), exp(mean + half)
        }'
}

# The median of the lines.
median() {
    sort -n | awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int((NR + 2) / 2)]) / 2 }'
}
