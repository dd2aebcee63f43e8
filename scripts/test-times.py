#!/usr/bin/env python3
"""Where the tests' time goes: what every test takes, and the dearest of them as a table.

    scripts/test-times.py [--jobs N] [--filter TEXT] [--most N] [--json FILE]

Every test runs in a process of its own, N at a time. Its processor time is that of the test itself, of each dbdyno and
of each server that it started; a sampler that reads /proc every 50 ms attributes processes by a variable of their
environment, so that servers which outlive their starter are counted, too. Needs Linux and python3.
"""

import argparse, json, os, queue, re, subprocess, sys, threading, time

MARK = "TEST_TIMED"
TICKS = os.sysconf("SC_CLK_TCK")
SERVERS = ("mariadbd", "mysqld", "mysqld-debug")


class Sampler(threading.Thread):
    """The last state seen of every process that carries the mark."""

    def __init__(self):
        super().__init__(daemon=True)
        self.marks, self.seen, self.ended = {}, {}, threading.Event()

    def run(self):
        while not self.ended.is_set():
            self.look()
            time.sleep(0.05)

    def look(self):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as file:
                    name, _, rest = file.read().partition("(")[2].rpartition(")")
                fields = rest.split()
                key = (pid, fields[19])
                if key not in self.marks or self.marks[key] is None and name == "mariadbd":
                    self.marks[key] = self.mark_of(pid)
                if not self.marks[key]:
                    continue
                written = 0
                with open(f"/proc/{pid}/io") as file:
                    written = int(re.search(r"\nwrite_bytes: (\d+)", file.read())[1])
                cpu = (int(fields[11]) + int(fields[12])) / TICKS
                self.seen[key] = (self.marks[key], name, cpu, written)
            except (OSError, IndexError, TypeError, ValueError):
                continue

    @staticmethod
    def mark_of(pid):
        with open(f"/proc/{pid}/environ", "rb") as file:
            for variable in file.read().split(b"\0"):
                if variable.startswith(MARK.encode() + b"="):
                    return variable.partition(b"=")[2].decode()
        return None


def binaries():
    """The test binaries, as (package, target, path), and the packages' directories."""
    build = subprocess.run(
        ["cargo", "test", "--workspace", "--no-run", "--message-format=json"],
        stdout=subprocess.PIPE, check=True, text=True)
    for line in build.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message.get("profile", {}).get("test"):
            directory = os.path.dirname(message["manifest_path"])
            yield os.path.basename(directory), message["target"]["name"], directory, message["executable"]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--filter", default="", help="only tests whose package/target name matches this regular expression")
    options.add_argument("--most", type=int, default=40)
    options.add_argument("--json", help="write every test's figures to this file")
    options = options.parse_args()

    waiting = queue.Queue()
    for package, target, directory, path in binaries():
        listed = subprocess.run([path, "--list", "--format=terse"], capture_output=True, text=True, cwd=directory)
        for line in listed.stdout.splitlines():
            name = line.removesuffix(": test")
            key = f"{package}/{target} {name}"
            if line.endswith(": test") and re.search(options.filter, key):
                waiting.put((key, name, directory, path))
    sampler, results = Sampler(), {}
    sampler.start()

    def work():
        while True:
            try:
                key, name, directory, path = waiting.get_nowait()
            except queue.Empty:
                return
            start = time.monotonic()
            run = subprocess.run([path, "--exact", name], capture_output=True, stdin=subprocess.DEVNULL,
                                 cwd=directory, env=dict(os.environ, **{MARK: key}))
            results[key] = {"seconds": time.monotonic() - start, "passed": run.returncode == 0}
            if run.returncode:
                sys.stderr.write(f"FAILED {key}\n{run.stdout.decode(errors='replace')[-3000:]}\n")
            sys.stderr.write(f"\r{len(results)} done, {waiting.qsize()} wait \033[K")

    workers = [threading.Thread(target=work) for _ in range(options.jobs)]
    begun = time.monotonic()
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    sampler.ended.set()
    sampler.join()
    for figures in results.values():
        figures.update(cpu=0.0, server_cpu=0.0, servers=0, written=0)
    for mark, name, cpu, written in sampler.seen.values():
        figures = results[mark]
        figures["cpu"] += cpu
        figures["written"] += written
        if name in SERVERS:
            figures["server_cpu"] += cpu
            figures["servers"] += 1
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
    table(results, options.most, time.monotonic() - begun, options.jobs)
    sys.exit(any(not figures["passed"] for figures in results.values()))


def table(results, most, took, jobs):
    total = lambda field: sum(figures[field] for figures in results.values())
    print(f"{len(results)} tests in {took:.0f} s, {jobs} at a time: {total('cpu'):.0f} s of CPU, "
          f"{total('server_cpu'):.0f} s of them in {total('servers')} servers; {total('written') / 2**20:.0f} MiB written\n")
    groups = {}
    for key, figures in results.items():
        group = groups.setdefault(key.split(" ")[0], [0, 0.0, 0.0, 0.0, 0])
        for at, value in enumerate((1, figures["seconds"], figures["cpu"], figures["server_cpu"], figures["servers"])):
            group[at] += value
    print("| tests of | tests | seconds | CPU, s | of servers | servers |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, (count, seconds, cpu, server_cpu, servers) in sorted(groups.items(), key=lambda it: -it[1][1]):
        if seconds >= 1:
            print(f"| {name} | {count} | {seconds:.0f} | {cpu:.0f} | {server_cpu:.0f} | {servers} |")
    print("\n| test | seconds | CPU, s | of servers | servers | MiB written |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for key, figures in sorted(results.items(), key=lambda it: -it[1]["seconds"])[:most]:
        print(f"| {key} | {figures['seconds']:.1f} | {figures['cpu']:.1f} | {figures['server_cpu']:.1f} "
              f"| {figures['servers']} | {figures['written'] / 2**20:.0f} |")


if __name__ == "__main__":
    main()
