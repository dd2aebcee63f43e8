#!/usr/bin/env python3
"""Prints the errors of the predictions of `dbdyno size` as tables in Markdown, from the answers that measure.sh wrote.

    bench/size/table.py RESULTS WORKLOAD...

For each workload, RESULTS/WORKLOAD.answers has target-N.json, a prediction with its test on an emulated target, and
growth.json, a prediction over data/memory for one CPU and limited reads. All are output of `dbdyno size --format json`.
"""

import json, pathlib, statistics, sys

MIB = 1 << 20


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    results, workloads = pathlib.Path(sys.argv[1]), sys.argv[2:]
    cases, cliffs = [], []
    for workload in workloads:
        answers = results / f"{workload}.answers"
        own = [Case(workload, read(path)) for path in sorted(answers.glob("target-*.json"))]
        cases += own
        cliffs.append(Cliff(workload, read(answers / "growth.json"), own))
    print("| workload | target | limit | predicted, operations/s | measured | error | in the interval |")
    print("| --- | --- | --- | ---: | ---: | ---: | --- |")
    for case in cases:
        print(case.row())
    print()
    print("| workload | target | data/memory of the cliff, predicted | measured | error |")
    print("| --- | --- | ---: | ---: | ---: |")
    for cliff in cliffs:
        print(cliff.row())
    print()
    repeated = sum(len(list((results / it).glob("run-*.disturbed-*.jsonl"))) for it in workloads)
    print_totals(cases, cliffs, repeated)
    for cliff in cliffs:
        cliff.print_hint()


def read(path):
    with open(path) as file:
        return json.load(file)


class Case:
    """The prediction for an emulated target, and what was measured on it."""

    def __init__(self, workload, answer):
        self.workload = workload
        self.limits = {it["limit"]: it["value"] for it in answer["limits"]}
        memory, throughput = answer["memory"] or {}, answer["throughput"] or {}
        self.pool_bytes = memory.get("buffer_pool_bytes")
        self.binding = [it["limit"] for it in throughput.get("binding", [])[:1]]
        self.test = answer["validation"]
        if self.test and self.test["not_emulated"]:
            names = ", ".join(self.test["not_emulated"])
            sys.exit(f"error: {workload}: {self.target()}: {names} of the target were not emulated")
        self.notes = answer["notes"]

    def target(self):
        """`1 CPU, 2,100 reads/s, 80 MiB`"""
        words = target_words(self.limits)
        if self.pool_bytes:
            words.append(f"{self.pool_bytes / MIB:,.0f} MiB")
        return ", ".join(words)

    def error(self):
        """The share by which the prediction is above what was measured; None if it was not tested."""
        return self.test and self.test["error"]["estimate"]

    def is_covered(self):
        return bool(self.test and self.test["in_interval"])

    def is_of(self, limit):
        return self.binding == [limit]

    def row(self):
        cells = [self.workload, self.target(), ", ".join(self.binding) or "not known"]
        if self.test:
            predicted = self.test["predicted_per_s"]
            at_most = "at most " if self.test["predicted_at_most"] else ""
            measured = number(self.test["measured_per_s"]["estimate"])
            # Something that the target does not limit.
            other = self.test["limited_by"]
            cells += [
                at_most + with_interval(predicted),
                f"{measured}, limited by {other}" if other else measured,
                signed_percent(self.error()),
                "yes" if self.is_covered() else "no",
            ]
        else:
            why = "; ".join(it for it in self.notes if "not tested" in it)
            cells += ["", "", "", why or "not tested"]
        return row(cells)


class Cliff:
    """The data/memory at which the throughput is half of that with all data in memory."""

    def __init__(self, workload, answer, cases):
        self.workload = workload
        self.limits = {it["limit"]: it["value"] for it in answer["limits"]}
        curve = answer["memory_curve"]
        self.why_none = curve.get("why_none")
        self.predicted = curve.get("cliff", {"estimate": None})
        tested = [it for it in cases if it.test and it.limits["cpus"] == self.limits["cpus"]]
        top = [it for it in tested if "read_iops" not in it.limits]
        held_out = [it for it in tested if it.limits.get("read_iops") == self.limits["read_iops"]]
        # Twice the seconds of an operation with all data in memory.
        self.level_s = 2 * seconds(top[0]) if top else None
        points = [(share(it), seconds(it)) for it in held_out]
        self.points = sorted(points, reverse=True)

    def measured(self):
        """From the two held-out buffer pools, on a line over the share of the data in memory, as `dbdyno size` does;
        None if the throughput does not halve between them."""
        if self.level_s is None:
            return None
        for (more, fast_s), (less, slow_s) in zip(self.points, self.points[1:]):
            if fast_s <= self.level_s < slow_s:
                weight = (self.level_s - fast_s) / (slow_s - fast_s)
                return 1 / (more + weight * (less - more))
        return None

    def error(self):
        predicted, measured = self.predicted["estimate"], self.measured()
        return predicted / measured - 1 if predicted and measured else None

    def row(self):
        if self.predicted["estimate"]:
            predicted = with_interval(self.predicted, ratio)
        else:
            predicted = self.why_none or "not reached"
        measured = self.measured()
        return row([
            self.workload,
            ", ".join(target_words(self.limits)),
            predicted,
            ratio(measured) if measured else "not between the held-out buffer pools",
            signed_percent(self.error()) if self.error() is not None else "",
        ])

    def print_hint(self):
        """The reads per second with which the throughput would halve between the held-out buffer pools: the time of an
        operation that waits for reads is inversely proportional to them."""
        if self.measured() is None and self.level_s and self.points:
            middle_s = statistics.mean(it for _, it in self.points)
            reads = self.limits["read_iops"] * middle_s / self.level_s
            print(
                f"note: {self.workload}: the throughput halves between the held-out buffer pools with about "
                f"{reads:,.0f} reads/s (cliff_reads in measure.sh)",
                file=sys.stderr,
            )


def seconds(case):
    return 1 / case.test["measured_per_s"]["estimate"]


def share(case):
    """Share of the data that the buffer pool can hold."""
    emulated = case.test["emulated"]
    return emulated["buffer_pool_bytes"] / emulated["data_bytes"]


def print_totals(cases, cliffs, repeated):
    print("| what | measured | target |")
    print("| --- | ---: | ---: |")
    for name, limit, median_at_most, most_at_most in [
        ("reads limit", "read_iops", 0.05, 0.15),
        ("CPUs limit", "cpus", 0.15, None),
    ]:
        errors = [abs(it.error()) for it in cases if it.is_of(limit) and it.error() is not None]
        if not errors:
            continue
        median, most = statistics.median(errors), max(errors)
        print(row([
            f"{name}: median absolute error of {len(errors)} targets",
            percent(median),
            f"{percent(median_at_most)}: {met(median <= median_at_most)}",
        ]))
        of_most = f"{percent(most_at_most)}: {met(most <= most_at_most)}" if most_at_most else ""
        print(row([f"{name}: largest absolute error", percent(most), of_most]))
    covered = sum(it.is_covered() for it in cases)
    print(row([
        "targets whose throughput is in the 90 % interval of the prediction",
        f"{covered} of {len(cases)}",
        f"90 %: {met(10 * covered >= 9 * len(cases))}",
    ]))
    errors = [it.error() for it in cliffs]
    known = [abs(it) for it in errors if it is not None]
    if known:
        is_met = len(known) == len(errors) and max(known) <= 0.10
        print(row([
            f"cliff: largest absolute error of {len(known)} of {len(errors)} workloads",
            percent(max(known)),
            f"10 %: {met(is_met)}",
        ]))
    print(row(["disturbed runs, which were repeated", str(repeated), ""]))


def target_words(limits):
    words = []
    if "cpus" in limits:
        words.append(f"{limits['cpus']:g} {'CPU' if limits['cpus'] == 1 else 'CPUs'}")
    if "read_iops" in limits:
        words.append(f"{limits['read_iops']:,.0f} reads/s")
    return words


def met(is_met):
    return "met" if is_met else "missed"


def row(cells):
    return f"| {' | '.join(cells)} |"


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def ratio(value):
    return f"{value:.2f}"


def with_interval(interval, in_words=number):
    """`1,234 (1,200 to 1,270)`; an end that is not known is open."""
    low, high = (in_words(it) if it else "open" for it in (interval["low"], interval["high"]))
    return f"{in_words(interval['estimate'])} ({low} to {high})"


def percent(part):
    return f"{part * 100:.1f} %"


def signed_percent(part):
    return f"{part * 100:+.1f} %"


if __name__ == "__main__":
    main()
