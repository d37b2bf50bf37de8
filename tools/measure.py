#!/usr/bin/env python3
"""What runtimes really allocate for a model, before and after planning, and whether both compute the same.

    measure.py MODEL [PLANNED] [--runs N] [--seed N] [--json]

A `.tflite` is run by LiteRT (reference kernels, no delegate) and by TFLite Micro, an `.onnx` by ONNX Runtime; whichever of them are installed
(`pip install ai-edge-litert tflite-micro onnxruntime numpy`). Each measurement runs in a process of its own, since a model that a runtime
does not know may end it. The exit code is 1 if a runtime that runs MODEL does not run PLANNED or gets other values, 2 if none runs MODEL.

Figures, in bytes:

- LiteRT `arena`: the span of all tensors that its interpreter put into the arena (kernels' scratch included), over all subgraphs; `dynamic`: tensors
  that it allocated one by one. Read from the interpreter's tensors in memory.
- TFLite Micro `head`: the planned part of its arena, scratch included; `tail`: what persists. Printed by its recording allocator.
- ONNX Runtime `requested`: the largest sum of bytes in use that its arena reports for a run; `held`: what it took from the system.

Equality is bit by bit (NaN equals NaN): of every tensor of the main subgraph that LiteRT lets one read, of all outputs elsewhere.
"""

import argparse
import json
import os
import re
import struct
import subprocess
import sys

# ---- random inputs -----------------------------------------------------------------------------------------------


def random_input(rng, shape, dtype):
    import numpy as np

    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu" and dtype.itemsize <= 2:
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)
    if dtype.kind in "iu":
        # Wide integers are indices as a rule: small ones are in range.
        return rng.integers(0, 2, shape).astype(dtype)
    raise ValueError(f"no random input of type {dtype}")


def digest(array):
    """The bytes of a tensor as text, with every NaN alike."""
    import hashlib

    import numpy as np

    array = np.ascontiguousarray(array)
    if array.dtype.kind == "f" and array.size:
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    head = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(head + array.tobytes()).hexdigest()[:24]


# ---- LiteRT ------------------------------------------------------------------------------------------------------

# `TfLiteAllocationType` of `tensorflow/lite/core/c/common.h`.
ARENA, DYNAMIC = 2, 4


class Memory:
    """This process's own memory, in words of eight bytes."""

    def __init__(self):
        self.file = os.open("/proc/self/mem", os.O_RDONLY)

    def words(self, address, count):
        if not count or not 4096 <= address < 1 << 47 or address % 8:
            return ()
        try:
            data = os.pread(self.file, 8 * count, address)
        except OSError:
            return ()
        return struct.unpack(f"<{len(data) // 8}Q", data[: len(data) // 8 * 8])


# `TfLiteTensor` of the same file, 64 bits: data at byte 8, `allocation_type` at 32, `bytes` at 40, in words of eight bytes; and its size.
DATA, ALLOCATION, BYTES, SIZE = 1, 4, 5, 14


def tensors_of(memory, subgraph):
    """(allocation type, address, bytes) of the tensors of a `tflite::Subgraph`.

    It holds a `TfLiteContext`: the number of tensors, a function, a pointer to the tensors, and a pointer back to the subgraph, by which it is found.
    """
    words = memory.words(subgraph, 256)
    for at in range(3, len(words)):
        count, _, base, back = words[at - 3 : at + 1]
        if back == subgraph and count < 10_000_000:
            found = memory.words(base, count * SIZE)
            if len(found) == count * SIZE:
                tensors = [found[start : start + SIZE] for start in range(0, len(found), SIZE)]
                return [(tensor[ALLOCATION] & 0xFFFFFFFF, tensor[DATA], tensor[BYTES]) for tensor in tensors]
    return None


def litert(path, runs, seed):
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    def make(**options):
        return Interpreter(
            model_path=path,
            num_threads=1,
            experimental_op_resolver_type=OpResolverType.BUILTIN_REF,
            **options,
        )

    def run(interpreter, read):
        rng = np.random.default_rng(seed)
        values = []
        for _ in range(runs):
            for detail in interpreter.get_input_details():
                value = random_input(rng, detail["shape"], detail["dtype"])
                interpreter.set_tensor(detail["index"], value)
            interpreter.invoke()
            values.append(read(interpreter))
        return values

    def outputs(interpreter):
        return [digest(interpreter.get_tensor(detail["index"])) for detail in interpreter.get_output_details()]

    # Once as it is, to measure; once with every tensor kept, to compare them all. Both see the same inputs.
    measured = make()
    # A second reference to the wrapper would keep the interpreter from allocating.
    numbers = [measured._interpreter.NumTensors(graph) for graph in range(measured._interpreter.NumSubgraphs())]
    measured.allocate_tensors()
    values = run(measured, outputs)
    figures = litert_figures(measured, numbers)

    kept = make(experimental_preserve_all_tensors=True)
    kept.allocate_tensors()
    # Handles and strings have no bytes that could be read.
    plain = [detail for detail in kept.get_tensor_details() if np.dtype(detail["dtype"]).kind in "fiubc"]
    details = [detail for detail in plain if detail["index"] < numbers[0]]

    def everything(interpreter):
        found = []
        for detail in details:
            try:
                found.append(digest(interpreter.get_tensor(detail["index"])))
            except ValueError:
                # What no operator has computed.
                found.append("unreadable")
        return found

    every = run(kept, everything)
    return figures, {"outputs": values, "tensors": every}


def litert_figures(interpreter, numbers):
    memory = Memory()
    address = interpreter._interpreter.interpreter()
    words = memory.words(address, 64)
    for at in range(len(words) - 2):
        begin, end, reserved = words[at : at + 3]
        if begin and end - begin == 8 * len(numbers) and reserved >= end:
            graphs = memory.words(begin, len(numbers))
            found = [tensors_of(memory, graph) for graph in graphs]
            if len(graphs) == len(numbers) and all(tensors is not None for tensors in found):
                return spans(found)
    raise RuntimeError("the interpreter's tensors were not found: another version of LiteRT?")


def spans(graphs):
    arena = dynamic = 0
    for tensors in graphs:
        inside = [(data, length) for allocation, data, length in tensors if allocation == ARENA and data and length]
        if inside:
            arena += max(data + length for data, length in inside) - min(data for data, _ in inside)
        dynamic += sum(length for allocation, data, length in tensors if allocation == DYNAMIC and data)
    return {"arena": arena, "dynamic": dynamic}


# ---- TFLite Micro ------------------------------------------------------------------------------------------------


def tflm(path, runs, seed):
    import numpy as np
    from tflite_micro import runtime

    interpreter = runtime.Interpreter.from_file(path, arena_size=600_000_000)

    def all_of(get):
        found = []
        while True:
            try:
                found.append(get(len(found)))
            except (IndexError, RuntimeError, ValueError):
                return found

    inputs = all_of(interpreter.get_input_details)
    outputs = len(all_of(interpreter.get_output_details))
    rng = np.random.default_rng(seed)
    values = []
    for _ in range(runs):
        for number, detail in enumerate(inputs):
            interpreter.set_input(random_input(rng, detail["shape"], detail["dtype"]), number)
        interpreter.invoke()
        values.append([digest(interpreter.get_output(number)) for number in range(outputs)])
    # Printed to the error stream, from where the parent reads it.
    interpreter.print_allocations()
    return {}, {"outputs": values}


def tflm_figures(said):
    figures = {}
    for part in ("head", "tail"):
        match = re.search(rf"Arena allocation {part} (\d+) bytes", said)
        if match is None:
            raise RuntimeError("TFLite Micro printed no allocations")
        figures[part] = int(match.group(1))
    return figures


# ---- ONNX Runtime ------------------------------------------------------------------------------------------------


def ort(path, runs, seed):
    import numpy as np
    import onnxruntime

    types = {"float": "float32", "double": "float64", "float16": "float16", "bool": "bool"}
    values = {}
    figures = {}
    # The order that the runtime chooses by itself, then the order of the file.
    for mode in ("default", "file"):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        options.enable_profiling = False
        if mode == "file":
            options.execution_order = onnxruntime.ExecutionOrder.PRIORITY_BASED
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        rng = np.random.default_rng(seed)
        values[mode] = []
        for _ in range(runs):
            feed = {}
            for value in session.get_inputs():
                name = re.fullmatch(r"tensor\((\w+)\)", value.type).group(1)
                shape = [size if isinstance(size, int) and size > 0 else 1 for size in value.shape]
                feed[value.name] = random_input(rng, shape, types.get(name, name))
            values[mode].append([digest(array) for array in session.run(None, feed)])
        figures[mode] = ort_figures(session, feed)
    return {f"{key} ({mode})": value for mode, all in figures.items() for key, value in all.items()}, values


def ort_figures(session, feed):
    import onnxruntime

    options = onnxruntime.RunOptions()
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    session.run(None, feed, options)
    stats = getattr(session, "get_allocator_stats", None)
    if stats is None:
        return {}
    found = stats()
    return {"requested": int(found.get("MaxInUse", 0)), "held": int(found.get("TotalAllocated", 0))}


# ---- the program -------------------------------------------------------------------------------------------------

RUNTIMES = {"litert": (litert, ".tflite", "ai_edge_litert"), "tflm": (tflm, ".tflite", "tflite_micro"), "ort": (ort, ".onnx", "onnxruntime")}


def child(runtime, path, runs, seed):
    figures, values = RUNTIMES[runtime][0](path, runs, seed)
    print(json.dumps({"figures": figures, "values": values}))


def measure(runtime, path, runs, seed):
    """Figures and values, or what went wrong."""
    command = [sys.executable, os.path.abspath(__file__), path, "--child", runtime, "--runs", str(runs), "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=1800)
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip() and not line.startswith("  ")]
        return {"error": (said[-1] if said else f"ended with {done.returncode}")[:300], "code": done.returncode}
    try:
        found = json.loads(lines[-1])
        if runtime == "tflm":
            found["figures"] = tflm_figures(done.stdout + done.stderr)
    except (ValueError, RuntimeError) as error:
        return {"error": str(error)[:300], "code": done.returncode}
    return found


def difference(before, after):
    """Where two sets of values differ first, or None."""
    for kind, runs in before.items():
        for run, values in enumerate(runs):
            for number, value in enumerate(values):
                if after[kind][run][number] != value:
                    return f"{kind}: number {number} differs in run {run}"
            if len(values) != len(after[kind][run]):
                return f"{kind}: {len(values)} before, {len(after[kind][run])} after"
    return None


def installed(module):
    import importlib.util

    return importlib.util.find_spec(module) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("planned", nargs="?")
    parser.add_argument("--runs", type=int, default=3, help="invocations in a row; state carries over")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(RUNTIMES), help="this runtime alone")
    parser.add_argument("--json", action="store_true", help="prints one object instead of lines")
    parser.add_argument("--child", choices=sorted(RUNTIMES), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments.child, arguments.model, arguments.runs, arguments.seed)

    chosen = [
        name
        for name, (_, extension, module) in RUNTIMES.items()
        if arguments.model.endswith(extension) and arguments.only in (None, name)
    ]
    missing = [RUNTIMES[name][2] for name in chosen if not installed(RUNTIMES[name][2])]
    if missing and arguments.only:
        parser.error(f"{', '.join(missing)} is not installed")
    results, code = {}, 2
    for name in (name for name in chosen if installed(RUNTIMES[name][2])):
        before = measure(name, arguments.model, arguments.runs, arguments.seed)
        result = {"before": before.get("figures"), "error": before.get("error")}
        if arguments.planned and "error" not in before:
            after = measure(name, arguments.planned, arguments.runs, arguments.seed)
            result["after"] = after.get("figures")
            result["error"] = after.get("error") or difference(before["values"], after["values"])
            result["same"] = result["error"] is None
        if "error" not in before:
            wrong = arguments.planned and not result["same"]
            code = 1 if wrong or code == 1 else 0
            result["compared"] = {kind: len(runs[0]) if runs else 0 for kind, runs in before["values"].items()}
        results[name] = result
    if arguments.json:
        print(json.dumps(results))
    else:
        report(results, arguments)
    return code


def report(results, arguments):
    for name, result in results.items():
        if result["before"] is None:
            print(f"{name}: does not run {arguments.model}: {result['error']}")
            continue
        for key, before in result["before"].items():
            after = (result.get("after") or {}).get(key)
            print(f"{name}: {key} {before:,}" + (f" -> {after:,} ({after / max(before, 1):.3f})" if after is not None else ""))
        if arguments.planned:
            compared = ", ".join(f"{count} {kind}" for kind, count in result["compared"].items())
            print(f"{name}: {'the same' if result['same'] else 'NOT THE SAME: ' + result['error']} ({compared}, {arguments.runs} runs)")
    if not results:
        print("no runtime for this model is installed")


if __name__ == "__main__":
    sys.exit(main())
