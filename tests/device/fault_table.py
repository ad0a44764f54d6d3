#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the rocket provider against the simulated node under every fault it can inject, and prints the table.

usage: fault_table.py DEVICE_CASE LIBROCKET_NODE [--json FILE] [--only TEXT]

Each row is a process of its own: three inferences of one partition on device=rocket. A row passes when every result
equals the simulator's or the host path's byte for byte (or the error is the one expected), within two seconds an
inference, and the process holds the same descriptors, mappings and buffers as before. Exits 1 when a row fails.
"""
import argparse
import dataclasses
import json
import os
import subprocess
import sys

LIMIT_MS = 2000


@dataclasses.dataclass
class Row:
    """One fault: the node's settings, and what has to become of it."""

    name: str
    fault: str  # ROCKET_NODE_FAULT
    outcome: str  # device: all results as the simulator's; host: as the host path's at the end; error: said so
    failures: int = 0  # device failures the session must have counted; -1: at least one
    says: str = ""  # part of the log or error
    version: str = "0.0"
    time_scale: float = 1
    environment: dict = dataclasses.field(default_factory=dict)
    chained: bool = False


# Separate CPU and device bytes, no access outside the job's objects, none to page 0, no write under a job's input.
STRICT = {"ROCKET_NODE_STRICT": "all", "ROCKET_NODE_ABORT": "all"}
ROWS = [
    Row("no fault, stock", "", "device"),
    Row("no fault, 1.1", "", "device", version="1.1", chained=True),
    Row("no fault, 1.5", "", "device", version="1.5", chained=True),
    Row("1.1, chains forbidden", "", "device", version="1.1", environment={"ROCKET_NODE_BATCH": "0"}),
    Row("strict node, stock", "", "device", environment=STRICT),
    Row("strict node, 1.1", "", "device", version="1.1", chained=True, environment=STRICT),
    Row("shuffled node", "", "device", environment={"ROCKET_NODE_STRICT": "shuffle"}),
    Row("time scale found by itself", "", "device", time_scale=0),
    Row("dropped job, once", "drop=1", "device", 1, "dropped"),
    Row("dropped job, always", "drop=*", "host", 2, "dropped"),
    Row("dropped job, 1.1", "drop=2", "device", 1, "dropped", version="1.1", chained=True),
    Row("start-up check dropped", "drop=1", "device", 0, "several tasks in one kick are not used", version="1.1"),
    Row("timeout, once", "timeout=1", "device", 1, "watchdog"),
    Row("timeout, always", "timeout=*", "host", 2, "watchdog"),
    Row("timeout, mark only", "timeout=1", "device", 1, "dropped", time_scale=0),
    Row("timeout, 1.1", "timeout=2", "device", 1, "watchdog", version="1.1", chained=True),
    Row("slow job", "delay=1:200", "device"),
    Row("job slower than the watchdog", "delay=1:600", "device", 1, "watchdog"),
    Row("lost wake-up, once", "lost=1", "device", 1, "watchdog"),
    Row("lost wake-up, always", "lost=*", "host", 2, "watchdog"),
    Row("lost wake-up, mark only", "lost=*", "device", time_scale=0),
    Row("reset in the middle, once", "reset=1", "device", 1, "watchdog"),
    Row("reset in the middle, always", "reset=*", "host", 2, "watchdog"),
    Row("reset in the middle, mark only", "reset=1", "device", 1, "dropped", time_scale=0),
    Row("ENOMEM at the guard page", "enomem=1", "error", says="out of memory"),
    Row("ENOMEM at a buffer", "enomem=3", "error", says="out of memory"),
    Row("short object", "short=2", "error", says="mapping a buffer"),
    Row("mmap fails", "mmap=2", "error", says="mapping a buffer"),
    Row("EINTR, once", "eintr=1", "device"),
    Row("EINTR, always", "eintr=*", "host", -1, "did not end"),
    Row("node gone at open", "gone=1", "error", says="the device is gone"),
    Row("node gone before the first job", "gone=12", "host", says="device is gone"),
    Row("node gone between jobs", "gone=22", "host", says="device is gone"),
]


def run_case(program, shim, row, what="session"):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ROCKET_")}
    environment |= {"LD_PRELOAD": shim, "ROCKET_NODE_VERSION": row.version, "ROCKET_NODE_LOG": "none"}
    environment |= {"ROCKET_NODE_FAULT": row.fault} if row.fault else {}
    environment |= row.environment
    done = subprocess.run([program, what, str(row.time_scale)], capture_output=True, text=True, timeout=120, check=False,
                          env=environment)
    if done.returncode != 0 or not done.stdout:
        return {"crash": f"exit {done.returncode}: {done.stderr[-400:]}"}
    return json.loads(done.stdout.splitlines()[-1])


def faults_of(row, got):
    """What is wrong with a row's result, in words."""
    if "crash" in got:
        return [got["crash"]]
    wrong = []
    runs = got["runs"]
    if got["before"] != got["after"]:
        wrong.append(f"left behind: {got['before']} became {got['after']}")
    if got.get("live_buffers", 0) != 0:
        wrong.append(f"{got['live_buffers']} buffers left")
    if not got["host_differs_from_sim"]:
        wrong.append("the host path's result tells nothing: it equals the simulator's")
    wrong += [f"run {i} took {run['ms']:.0f} ms" for i, run in enumerate(runs) if run["ms"] > LIMIT_MS]
    if row.says not in got["log"] + got["error"]:
        wrong.append(f"nobody said {row.says!r}: {got['log']}{got['error']}")
    if row.outcome == "error":
        return wrong + ([] if got["error"] else ["no error"])
    if got["error"] or len(runs) != 3 or not all(run["ok"] for run in runs):
        return wrong + [f"failed: {got['error']}"]
    if row.outcome == "device" and not all(run["as_sim"] for run in runs):
        wrong.append("not as on the simulator")
    if row.outcome == "host" and not (runs[-1]["as_host"] and all(r["as_host"] or r["as_sim"] for r in runs)):
        wrong.append("not as on the host")
    failures = got["device_failures"]
    if failures != row.failures and not (row.failures < 0 < failures) and row.outcome == "device":
        wrong.append(f"{failures} device failures, expected {row.failures}")
    if (row.outcome == "host") != (got["host_runs"] > 0):
        wrong.append(f"{got['host_runs']} runs on the host")
    if row.outcome == "device" and row.chained != (got["kicks"] == got["submits"]):
        wrong.append(f"{got['kicks']} kicks in {got['submits']} submits")
    return wrong


def golden_faults(got, chained):
    if "crash" in got:
        return [got["crash"]]
    wrong = [f"{job['name']}: {job['error'] or job['mismatches']}" for job in got["jobs"] if job["error"] or job["mismatches"]]
    if got["before"] != got["after"]:
        wrong.append(f"left behind: {got['before']} became {got['after']}")
    return wrong + ([] if len(got["jobs"]) == 6 + chained else [f"too few jobs ran: {got['log']}"])


def held(state):
    return f"{state['descriptors']}/{state['mappings']}" if state else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("shim")
    parser.add_argument("--json", metavar="FILE", help="write the table there")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name contains this")
    args = parser.parse_args()
    table = []
    print(f"{'fault':32} {'node':4} {'injected':12} {'outcome':8} {'slowest':>9} {'total':>9} {'fails':>5} "
          f"{'held before':>11} {'after':>6} {'left':>4}  verdict (held: descriptors/mappings; left: buffers)")
    for row in [r for r in ROWS if args.only in r.name]:
        got = run_case(args.program, args.shim, row)
        wrong = faults_of(row, got)
        runs = got.get("runs", [])
        outcome = "error" if got.get("error") else "host" if got.get("host_runs") else "device"
        slowest = max((run["ms"] for run in runs), default=0)
        table.append({"fault": row.name, "injected": row.fault, "version": row.version, "expected": row.outcome,
                      "outcome": outcome, "slowest_ms": slowest, "total_ms": got.get("ms", 0),
                      "device_failures": got.get("device_failures", 0), "before": got.get("before"),
                      "after": got.get("after"), "buffers_left": got.get("live_buffers", 0), "wrong": wrong,
                      "message": (got.get("error") or got.get("log", "")).strip()})
        print(f"{row.name:32} {row.version:4} {row.fault or '-':12} {outcome:8} {slowest:6.0f} ms {got.get('ms', 0):6.0f} ms "
              f"{got.get('device_failures', 0):5} {held(got.get('before')):>11} {held(got.get('after')):>6} "
              f"{got.get('live_buffers', 0):4}  {'ok' if not wrong else 'WRONG: ' + '; '.join(wrong)}", flush=True)
    for version in ["0.0", "1.1"] if not args.only else []:
        got = run_case(args.program, args.shim, Row("golden", "", "device", version=version), "golden")
        wrong = golden_faults(got, version != "0.0")
        jobs = got.get("jobs", [])
        table.append({"fault": "golden jobs", "version": version, "jobs": jobs, "wrong": wrong})
        print(f"golden jobs, node {version}: {len(jobs)} ran, {sum(j['tasks'] for j in jobs)} tasks in "
              f"{sum(j['kicks'] for j in jobs)} kicks  {'ok' if not wrong else 'WRONG: ' + '; '.join(wrong)}")
    failed = [row for row in table if row["wrong"]]
    print(f"fault table: {len(table) - len(failed)} of {len(table)} as expected")
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"format": 1, "limit_ms": LIMIT_MS, "rows": table}, file, indent=1)
    return 1 if failed or not table else 0


if __name__ == "__main__":
    sys.exit(main())
