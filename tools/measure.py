#!/usr/bin/env python3
"""What runtimes really allocate for a model, before and after planning, and whether both compute the same.

    measure.py MODEL [PLANNED ..] [--runs N] [--seed N] [--json]

A `.tflite` is run by LiteRT (no delegate) and by TFLite Micro, an `.onnx` by ONNX Runtime; whichever of them are installed
(`pip install ai-edge-litert tflite-micro onnxruntime numpy`). Each measurement runs in a process of its own, since a model that a runtime
does not know may end it. The exit code is 1 if a runtime that runs MODEL does not run PLANNED or gets other values, 2 if none runs MODEL.

Figures, in bytes:

- LiteRT `arena`: the span of all tensors that its interpreter put into the arena (kernels' scratch included), over all subgraphs; `dynamic`: tensors
  that it allocated one by one. Read from the interpreter's tensors in memory, with reference kernels, whose scratch is small; with the
  optimised ones where a model has an operator that the others do not run. Values are compared under the optimised kernels.
- TFLite Micro `head`: the planned part of its arena, scratch included; `tail`: what persists. Printed by its recording allocator.
- ONNX Runtime `requested`: the most that its executor had asked for after a node, from the profiler's statistics.

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


def litert(path, runs, seed, kernels):
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    optimised = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES

    def make(resolver, **options):
        return Interpreter(model_path=path, num_threads=1, experimental_op_resolver_type=resolver, **options)

    def run(interpreter, read, times):
        rng = np.random.default_rng(seed)
        values = []
        for _ in range(times):
            for detail in interpreter.get_input_details():
                value = random_input(rng, detail["shape"], detail["dtype"])
                interpreter.set_tensor(detail["index"], value)
            interpreter.invoke()
            values.append(read(interpreter))
        return values

    def outputs(interpreter):
        return [digest(interpreter.get_tensor(detail["index"])) for detail in interpreter.get_output_details()]

    # To measure: one run, since some tensors and some subgraphs are allocated then.
    measured = make(OpResolverType.BUILTIN_REF if kernels == "reference" else optimised)
    # A second reference to the wrapper would keep the interpreter from allocating.
    numbers = [measured._interpreter.NumTensors(graph) for graph in range(measured._interpreter.NumSubgraphs())]
    measured.allocate_tensors()
    run(measured, outputs, 1)
    figures = litert_figures(measured, numbers)

    # To compare: as it is, with tensors in each other's bytes, and with every tensor kept. Both see the same inputs.
    plain = make(optimised)
    plain.allocate_tensors()
    values = run(plain, outputs, runs)
    kept = make(optimised, experimental_preserve_all_tensors=True)
    kept.allocate_tensors()
    # Handles and strings have no bytes that could be read.
    details = [detail for detail in kept.get_tensor_details() if detail["index"] < numbers[0]]
    details = [detail for detail in details if np.dtype(detail["dtype"]).kind in "fiubc"]

    def everything(interpreter):
        found = []
        for detail in details:
            try:
                found.append(digest(interpreter.get_tensor(detail["index"])))
            except ValueError:
                # What no operator has computed.
                found.append("unreadable")
        return found

    every = run(kept, everything, runs)
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


def tflm(path, runs, seed, _):
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


def ort(path, runs, seed, _):
    import tempfile

    import numpy as np
    import onnxruntime

    types = {"float": "float32", "double": "float64", "float16": "float16", "bool": "bool"}
    values, figures = {}, {}
    # The order that the runtime chooses by itself, then the order of the file.
    for mode in ("default order", "file order"):
        with tempfile.TemporaryDirectory() as folder:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 4
            options.enable_profiling = True
            options.profile_file_prefix = os.path.join(folder, "profile")
            if mode == "file order":
                options.execution_order = onnxruntime.ExecutionOrder.PRIORITY_BASED
                options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
            rng = np.random.default_rng(seed)
            values[mode] = []
            for run in range(runs):
                feed = {}
                for value in session.get_inputs():
                    name = re.fullmatch(r"tensor\((\w+)\)", value.type).group(1)
                    # Dimensions without a number are 1.
                    shape = [size if isinstance(size, int) and size > 0 else 1 for size in value.shape]
                    feed[value.name] = random_input(rng, shape, types.get(name, name))
                values[mode].append([digest(array) for array in session.run(None, feed)])
                if run == 0:
                    # Later runs take one block that was sized by this one.
                    figures[f"requested in the {mode}"] = ort_requested(session.end_profiling())
    return figures, values


def ort_requested(profile):
    """The most that the executor had asked for after a node, less what was in use before the first."""
    with open(profile) as file:
        events = json.load(file)
    nodes = sorted((event for event in events if event.get("cat") == "Node"), key=lambda event: event["ts"])
    stats = [event["args"] for event in nodes if "mem_bytes_requested_in_use" in event.get("args", {})]
    if not stats:
        return 0
    in_use = [int(args["mem_bytes_requested_in_use"]) for args in stats]
    return max(in_use) - (in_use[0] - int(stats[0].get("mem_requested_in_use_delta", 0)))


# ---- the program -------------------------------------------------------------------------------------------------

# By name: how to run, which files, the module to import, what pip calls it.
RUNTIMES = {
    "litert": (litert, ".tflite", "ai_edge_litert", "ai-edge-litert"),
    "tflm": (tflm, ".tflite", "tflite_micro", "--pre tflite-micro"),
    "ort": (ort, ".onnx", "onnxruntime", "onnxruntime"),
}


def child(runtime, path, runs, seed, kernels):
    figures, values = RUNTIMES[runtime][0](path, runs, seed, kernels)
    print(json.dumps({"figures": figures, "values": values}), flush=True)
    sys.stderr.flush()
    # What a runtime does when it is taken down is not measured.
    os._exit(0)


def measure(runtime, path, runs, seed, kernels="reference"):
    """Figures and values, or what went wrong."""
    command = [sys.executable, os.path.abspath(__file__), path, "--child", runtime, "--kernels", kernels]
    command += ["--runs", str(runs), "--seed", str(seed)]
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
    parser.add_argument("planned", nargs="*")
    parser.add_argument("--runs", type=int, default=3, help="invocations in a row; state carries over")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=sorted(RUNTIMES), help="this runtime alone")
    parser.add_argument("--json", action="store_true", help="prints one object instead of lines")
    parser.add_argument("--child", choices=sorted(RUNTIMES), help=argparse.SUPPRESS)
    parser.add_argument("--kernels", default="reference", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments.child, arguments.model, arguments.runs, arguments.seed, arguments.kernels)

    extension = os.path.splitext(arguments.model)[1]
    for path in [arguments.model, *arguments.planned]:
        if not os.path.isfile(path):
            parser.error(f"{path}: there is no such file")
        if os.path.splitext(path)[1] != extension:
            parser.error(f"{path}: not of the kind of {arguments.model}")
    chosen = [name for name in RUNTIMES if RUNTIMES[name][1] == extension]
    if not chosen:
        parser.error(f"{arguments.model}: only .tflite and .onnx files are run")
    chosen = [name for name in chosen if arguments.only in (None, name)]
    if not chosen:
        parser.error(f"--only {arguments.only}: it runs {RUNTIMES[arguments.only][1]} files, not {extension}")
    missing = [name for name in chosen if not installed(RUNTIMES[name][2])]
    if len(missing) == len(chosen):
        ways = "; ".join(f"{name}: pip install {RUNTIMES[name][3]}" for name in missing)
        parser.error(f"no runtime for {extension} files is installed ({ways})")
    if not installed("numpy"):
        parser.error("numpy is not installed: pip install numpy")
    for name in missing:
        print(f"measure.py: {name} is left out: it is not installed (pip install {RUNTIMES[name][3]})", file=sys.stderr)
    results, code = {}, 2
    for name in (name for name in chosen if installed(RUNTIMES[name][2])):
        results[name] = result = compare(name, arguments)
        if result["before"] is not None:
            wrong = any(planned["error"] for planned in result["planned"])
            code = 1 if wrong or code == 1 else 0
    if arguments.json:
        print(json.dumps(results))
    else:
        report(results, arguments)
    return code


def compare(name, arguments):
    """One runtime on the model and on each planned file."""
    kernels = "reference"
    before = measure(name, arguments.model, arguments.runs, arguments.seed)
    if "error" in before and name == "litert":
        kernels = "optimised"
        before = measure(name, arguments.model, arguments.runs, arguments.seed, kernels)
    result = {"before": before.get("figures"), "error": before.get("error"), "planned": []}
    if "error" in before:
        return result
    result["compared"] = {kind: len(runs[0]) if runs else 0 for kind, runs in before["values"].items()}
    for path in arguments.planned:
        after = measure(name, path, arguments.runs, arguments.seed, kernels)
        error = after.get("error") or difference(before["values"], after["values"])
        result["planned"].append({"file": path, "after": after.get("figures"), "error": error})
    return result


def report(results, arguments):
    for name, result in results.items():
        if result["before"] is None:
            print(f"{name}: does not run {arguments.model}: {result['error']}")
            continue
        for key, before in result["before"].items():
            print(f"{name}: {key} {before:,}")
        compared = ", ".join(f"{count} {kind}" for kind, count in result["compared"].items())
        for planned in result["planned"]:
            for key, after in (planned["after"] or {}).items():
                before = result["before"].get(key, 0)
                print(f"{name}: {planned['file']}: {key} {after:,} ({after / max(before, 1):.3f})")
            verdict = "the same"
            if planned["error"]:
                verdict = f"{'NOT THE SAME' if planned['after'] else 'DOES NOT RUN'}: {planned['error']}"
            print(f"{name}: {planned['file']}: {verdict} ({compared}, {arguments.runs} runs)")


if __name__ == "__main__":
    sys.exit(main())
