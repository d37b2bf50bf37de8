// The data of the page as typed arrays, and what follows from them: where each value's producer and readers are.
const DATA = JSON.parse(document.getElementById("data").textContent);
const KINDS = DATA.kinds, STATE = KINDS.indexOf("state");

/// Numbers for drawing; the text of a size comes from the data themselves, which are exact.
const numbers = list => Float64Array.from(list, Number);

function build(columns) {
  const s = columns.storages, v = columns.values, o = columns.ops;
  const count = s.size.length, values = v.name.length, steps = o.kind.length;
  const m = {
    name: columns.name, columns, count, values, steps: Math.max(steps, 1), ops: steps,
    kind: Uint8Array.from(s.kind), arena: Uint16Array.from(s.arena), begin: Int32Array.from(s.begin), end: Int32Array.from(s.end),
    size: numbers(s.size), offset: Float64Array.from(s.offset, x => x === null ? -1 : Number(x)), first: Int32Array.from(s.values),
    before: numbers(columns.curves[0]), after: numbers(columns.curves[1]),
    storageOf: new Int32Array(values), madeAt: new Int32Array(values).fill(-1),
  };
  for (let i = 0; i < count; i++) m.storageOf.fill(i, m.first[i], m.first[i + 1]);
  for (let step = 0; step < steps; step++)
    for (let at = o.makes.starts[step]; at < o.makes.starts[step + 1]; at++) m.madeAt[o.makes.items[at]] = step;
  readers(m, o.reads, steps);
  m.atPeak = new Uint8Array(count);
  for (const i of columns.figures.at_peak) m.atPeak[i] = 1;
  return m;
}

/// Lists of readers by value, one behind the other: the lists of reads turned around.
function readers(m, reads, steps) {
  const starts = new Int32Array(m.values + 1);
  for (const value of reads.items) starts[value + 1]++;
  for (let i = 0; i < m.values; i++) starts[i + 1] += starts[i];
  const next = starts.slice(), items = new Int32Array(reads.items.length);
  for (let step = 0; step < steps; step++)
    for (let at = reads.starts[step]; at < reads.starts[step + 1]; at++) items[next[reads.items[at]]++] = step;
  m.readers = { starts, items };
}

const range = (from, to) => Array.from({ length: Math.max(to - from, 0) }, (_, i) => from + i);
const slice = (flat, at) => Array.from(flat.items.slice(flat.starts[at], flat.starts[at + 1]));
const valuesOf = (m, storage) => range(m.first[storage], m.first[storage + 1]);
const readersOf = (m, value) => slice(m.readers, value);
const readsOf = (m, step) => slice(m.columns.ops.reads, step);
const makesOf = (m, step) => slice(m.columns.ops.makes, step);
const unique = list => [...new Set(list)].sort((a, b) => a - b);

/// Steps that write into a storage, and steps that read from it. Scratch is its own operation's.
function touching(m, storage) {
  const values = valuesOf(m, storage);
  if (values.length === 0) return { makers: [m.begin[storage]].filter(step => step < m.ops), readers: [] };
  const makers = unique(values.map(value => m.madeAt[value]).filter(step => step >= 0));
  return { makers, readers: unique(values.flatMap(value => readersOf(m, value))) };
}

/// The storage that holds a place of the map; of several none is above another, since they do not overlap.
function storageAt(m, arena, shown, step, bytes) {
  for (let i = 0; i < m.count; i++)
    if (m.begin[i] <= step && step < m.end[i] && m.offset[i] <= bytes && bytes < m.offset[i] + m.size[i]
      && m.arena[i] === arena && shown[m.kind[i]] && m.offset[i] >= 0) return i;
  return -1;
}
