"""Packs tables with OmniMalloc's allocators, pinned to one core.

usage: omni_driver.py SECONDS FILE.csv..      (SECONDS: the most that a search may take)

Prints, for each table and allocator: table, allocator, height, processor seconds inside the call.
"""

import csv
import os
import pathlib
import sys
import time

import omnimalloc
from omnimalloc.allocators import OmniAllocator, SupermallocAllocator, TabuSearchAllocator


def main(seconds, tables):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    # One thread is broken in 1.0.0: twelve on one core do the same work.
    allocators = {
        "supermalloc": SupermallocAllocator(num_threads=12, timeout=seconds),
        "tabu-search": TabuSearchAllocator(timeout=min(seconds, 10)),
        "greedy": "greedy_by_all",
        "omni": OmniAllocator(),
    }
    for table in tables:
        with open(table, newline="") as file:
            rows = list(csv.DictReader(file))
        buffers = [
            omnimalloc.Allocation(i, int(row["size"]), int(row["lower"]), int(row["upper"])) for i, row in enumerate(rows)
        ]
        for name, allocator in allocators.items():
            start = time.process_time()
            placed = omnimalloc.allocate(buffers, allocator)
            spent = time.process_time() - start
            height = max(buffer.offset + buffer.size for buffer in placed)
            print(pathlib.Path(table).stem, name, height, f"{spent:.6f}", sep="\t", flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
