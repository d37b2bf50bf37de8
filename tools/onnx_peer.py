#!/usr/bin/env python3
"""Two .onnx files in ONNX Runtime: are their outputs equal, what does each ask for, in which order do their nodes run?

usage: onnx_peer.py BEFORE AFTER [SPEC]        needs onnx and onnxruntime (measured with 1.32)

SPEC is JSON: {"shapes": {INPUT: [..]}, "dims": {NAME: N}, "values": {INPUT: NUMBER}}; dimensions that it does not name are 1.
Prints one JSON object:
  equal        whether all outputs are bit-equal on the same random inputs, NaN included, in the order of each file
  before/after for each file {"file": bytes, "default": bytes}: the most that the executor had asked for after a node, in
               the order of the file (PRIORITY_BASED, basic optimisation) and in the runtime's own order (all optimisation)
  order        numbers of the nodes of BEFORE in the order in which a default session without optimisation runs them

Bytes come from the profiler's statistics of the CPU allocator in the first run: intermediates and outputs, not the caller's
inputs, not what kernels take for themselves.
"""
import json
import os
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort

TYPES = {"float": "float32", "double": "float64", "float16": "float16", "int64": "int64", "int32": "int32", "int8": "int8",
         "uint8": "uint8", "bool": "bool"}


def session(path, level, order, profile=None):
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    options.execution_order = getattr(ort.ExecutionOrder, order)
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = profile
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def feeds(sess, spec):
    rng = np.random.default_rng(1)
    made = {}
    for arg in sess.get_inputs():
        dims = [d if isinstance(d, int) and d >= 0 else spec.get("dims", {}).get(d, 1) for d in arg.shape]
        dims = spec.get("shapes", {}).get(arg.name, dims)
        kind = np.dtype(TYPES[arg.type[len("tensor("):-1]])
        if arg.name in spec.get("values", {}):
            made[arg.name] = np.full(dims, spec["values"][arg.name], kind)
        elif kind.kind == "f":
            made[arg.name] = rng.standard_normal(dims).astype(kind)
        else:
            made[arg.name] = rng.integers(0, 2, dims).astype(kind)
    return made


def events(path, level, order, spec):
    """The kernels of the first run, in order, with what the profiler knows of each."""
    with tempfile.TemporaryDirectory() as folder:
        sess = session(path, level, order, os.path.join(folder, "profile"))
        sess.run(None, feeds(sess, spec))
        with open(sess.end_profiling()) as file:
            found = json.load(file)
    kernels = [e for e in found if e["cat"] == "Node" and e["name"].endswith("_kernel_time")]
    return sorted(kernels, key=lambda e: e["ts"])


def requested(path, level, order, spec):
    """The most bytes asked for after a node, less what was in use before the first."""
    number = lambda args, key: int(args.get(key, 0))
    stats = [e["args"] for e in events(path, level, order, spec) if "mem_bytes_requested_in_use" in e["args"]]
    first = stats[0]
    base = number(first, "mem_bytes_requested_in_use") - number(first, "mem_requested_in_use_delta")
    return max(number(args, "mem_bytes_requested_in_use") for args in stats) - base


def bytes_of(path, spec):
    return {"file": requested(path, "ORT_ENABLE_BASIC", "PRIORITY_BASED", spec),
            "default": requested(path, "ORT_ENABLE_ALL", "DEFAULT", spec)}


def equal(before, after, spec):
    sessions = [session(path, "ORT_DISABLE_ALL", "PRIORITY_BASED") for path in (before, after)]
    inputs = feeds(sessions[0], spec)
    left, right = (sess.run(None, inputs) for sess in sessions)
    names = [[out.name for out in sess.get_outputs()] for sess in sessions]
    same = lambda a, b: a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    return names[0] == names[1] and all(same(np.asarray(a), np.asarray(b)) for a, b in zip(left, right))


def default_order(path, spec):
    model = onnx.load(path, load_external_data=False)
    for index, node in enumerate(model.graph.node):
        node.name = f"neap_node_{index}"
    # External data is looked for beside the file.
    named = f"{path}.named.onnx"
    onnx.save(model, named)
    try:
        found = events(named, "ORT_DISABLE_ALL", "DEFAULT", spec)
    finally:
        os.remove(named)
    names = [e["name"][: -len("_kernel_time")] for e in found]
    return [int(name.rsplit("_", 1)[1]) for name in names if name.startswith("neap_node_")]


def main():
    before, after = sys.argv[1:3]
    spec = json.loads(sys.argv[3]) if len(sys.argv) > 3 else {}
    print(json.dumps({"equal": equal(before, after, spec), "before": bytes_of(before, spec),
                      "after": bytes_of(after, spec), "order": default_order(before, spec)}))


if __name__ == "__main__":
    main()
