//! Makes NPU graphs of any size: tiled matrix products, attention with an online softmax, tiled convolutions.
//!
//! The structure is that of the cases of the 2025 China Postgraduate Mathematical Contest in Modeling, problem A (sizes, cycles and pipes as published
//! with them); the text is written without spaces, nodes in the order of their ids, all `FREE` last.

#![allow(dead_code, reason = "each user takes what it needs")]

use std::fmt::Write;

/// A buffer while a graph is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Buf(usize);

struct Memory {
    pool: &'static str,
    size: u64,
    alloc: usize,
    writer: Option<usize>,
    users: Vec<usize>,
}

/// A graph while it is made.
#[derive(Default)]
pub(crate) struct Maker {
    nodes: Vec<String>,
    edges: Vec<(usize, usize)>,
    memories: Vec<Memory>,
}

impl Maker {
    fn alloc(&mut self, pool: &'static str, size: u64) -> Buf {
        let (buffer, id) = (self.memories.len(), self.nodes.len());
        self.nodes.push(format!(r#"{{"Id":{id},"Op":"ALLOC","BufId":{buffer},"Size":{size},"Type":"{pool}"}}"#));
        self.memories.push(Memory { pool, size, alloc: id, writer: None, users: Vec::new() });
        Buf(buffer)
    }

    /// An operation on buffers as the file lists them; it writes the first unless it is a `COPY_OUT`.
    fn op(&mut self, name: &str, pipe: &str, cycles: u64, bufs: &[Buf]) {
        let id = self.nodes.len();
        let list: Vec<String> = bufs.iter().map(|buf| buf.0.to_string()).collect();
        let list = list.join(",");
        self.nodes.push(format!(r#"{{"Id":{id},"Op":"{name}","Pipe":"{pipe}","Cycles":{cycles},"Bufs":[{list}]}}"#));
        for (place, buf) in bufs.iter().enumerate() {
            let memory = &mut self.memories[buf.0];
            self.edges.push((memory.writer.unwrap_or(memory.alloc), id));
            memory.users.push(id);
            if (place == 0 && name != "COPY_OUT") || memory.writer.is_none() {
                memory.writer = Some(id);
            }
        }
    }

    /// The text; edges are left out where `edges` is false.
    fn text(mut self, edges: bool) -> String {
        for (buffer, memory) in self.memories.iter().enumerate() {
            let id = self.nodes.len();
            let Memory { pool, size, alloc, users, .. } = memory;
            self.nodes.push(format!(r#"{{"Id":{id},"Op":"FREE","BufId":{buffer},"Size":{size},"Type":"{pool}"}}"#));
            self.edges.push((*alloc, id));
            self.edges.extend(users.iter().map(|user| (*user, id)));
        }
        let mut text = format!("{{\"Nodes\":[{}]", self.nodes.join(",\n"));
        if edges {
            self.edges.sort_unstable();
            text += ",\n\"Edges\":[";
            for (at, (from, to)) in self.edges.iter().enumerate() {
                let _ = write!(text, "{}[{from},{to}]", if at == 0 { "" } else { "," });
            }
            text += "]";
        }
        text + "}\n"
    }
}

/// Tiles of A (`m` x `k`) times tiles of B (`k` x `n`).
pub(crate) fn matmul(m: usize, n: usize, k: usize, edges: bool) -> String {
    let mut g = Maker::default();
    let (mut a, mut b) = (vec![None; m * k], vec![None; k * n]);
    for i in 0..m {
        for j in 0..n {
            let c = g.alloc("L0C", 256);
            for l in 0..k {
                let places = [&mut a[i * k + l], &mut b[l * n + j]];
                let news = [places[0].is_none(), places[1].is_none()];
                let tiles = places.map(|tile| *tile.get_or_insert_with(|| g.alloc("L1", 128)));
                for (tile, _) in tiles.iter().zip(news).filter(|(_, new)| *new) {
                    g.op("COPY_IN", "MTE2", 325, &[*tile]);
                }
                let (left, right) = (g.alloc("L0A", 128), g.alloc("L0B", 128));
                g.op("MOVE", "MTE1", 31, &[left, tiles[0]]);
                g.op("MOVE", "MTE1", 31, &[right, tiles[1]]);
                g.op("MATMUL", "CUBE", 128, &[c, right, left]);
            }
            g.op("COPY_OUT", "FIXP", 263, &[c]);
        }
    }
    g.text(edges)
}

/// `rows` blocks of queries against `columns` blocks of keys and values, softmax on the way.
pub(crate) fn flash(rows: usize, columns: usize) -> String {
    let mut g = Maker::default();
    let mut queries = vec![None; rows * 2];
    let mut state: Vec<Option<Softmax>> = vec![None; rows];
    for j in 0..columns {
        let (mut keys, mut values) = ([None; 2], [None; 2]);
        for i in 0..rows {
            let s = g.alloc("L0C", 256);
            for half in 0..2 {
                let (q, new_q) = tile(&mut g, &mut queries[i * 2 + half]);
                let (k, new_k) = tile(&mut g, &mut keys[half]);
                load(&mut g, &[(q, new_q), (k, new_k)]);
                product(&mut g, s, q, k);
            }
            let (score, most) = (g.alloc("UB", 128), g.alloc("UB", 128));
            g.op("COPY", "FIXP", 41, &[score, s]);
            g.op("ROWMAX", "VECTOR", 310, &[most, score]);
            let row_max = compact(&mut g, most);
            let shifted = vector(&mut g, "SUB", 151, 128, &[score, most]);
            let weights = vector(&mut g, "EXP", 218, 128, &[shifted]);
            let sums = vector(&mut g, "ROWSUM", 342, 128, &[weights]);
            let row_sum = compact(&mut g, sums);
            let scales = state[i].map(|old| old.scales(&mut g, row_max, row_sum));
            let mut outs = Vec::new();
            let mut weights_tile = None;
            for value in &mut values {
                let out = g.alloc("L0C", 256);
                let (w, new_w) = tile(&mut g, &mut weights_tile);
                let (v, new_v) = tile(&mut g, value);
                if new_w {
                    g.op("COPY", "MTE3", 271, &[w, weights]);
                }
                load(&mut g, &[(v, new_v)]);
                product(&mut g, out, w, v);
                outs.push(out);
            }
            state[i] = Some(Softmax::next(&mut g, state[i], scales, (row_max, row_sum), &outs));
            if j + 1 == columns {
                state[i].into_iter().for_each(|state| state.store(&mut g));
            }
        }
    }
    g.text(true)
}

/// What an online softmax carries along a row.
#[derive(Clone, Copy)]
struct Softmax {
    most: Buf,
    sum: Buf,
    outs: [Buf; 2],
}

/// Factors for the old and the new part, and the new maximum and sum.
#[derive(Clone, Copy)]
struct Scales {
    old: Buf,
    new: Buf,
    most: Buf,
    sum: Buf,
}

impl Softmax {
    fn scales(self, g: &mut Maker, row_max: Buf, row_sum: Buf) -> Scales {
        let most = vector(g, "MAX", 23, 2, &[self.most, row_max]);
        let down = vector(g, "SUB", 24, 2, &[self.most, most]);
        let old = vector(g, "EXP", 31, 2, &[down]);
        let down = vector(g, "SUB", 24, 2, &[row_max, most]);
        let new = vector(g, "EXP", 31, 2, &[down]);
        let a = vector(g, "MUL", 25, 2, &[new, row_sum]);
        let b = vector(g, "MUL", 25, 2, &[old, self.sum]);
        Scales { old, new, most, sum: vector(g, "ADD", 24, 2, &[b, a]) }
    }

    fn next(g: &mut Maker, old: Option<Softmax>, scales: Option<Scales>, row: (Buf, Buf), outs: &[Buf]) -> Softmax {
        let (Some(old), Some(scales)) = (old, scales) else {
            let outs = [0, 1].map(|half| {
                let out = g.alloc("UB", 128);
                g.op("COPY", "FIXP", 41, &[out, outs[half]]);
                out
            });
            return Softmax { most: row.0, sum: row.1, outs };
        };
        let scaled = [0, 1].map(|half| {
            let (out, scaled) = (g.alloc("UB", 128), g.alloc("UB", 128));
            g.op("COPY", "FIXP", 41, &[out, outs[half]]);
            g.op("MUL", "VECTOR", 38, &[scaled, out, scales.new]);
            scaled
        });
        let kept = old.outs.map(|out| vector(g, "MUL", 38, 128, &[out, scales.old]));
        let outs = [0, 1].map(|half| vector(g, "ADD", 37, 128, &[kept[half], scaled[half]]));
        Softmax { most: scales.most, sum: scales.sum, outs }
    }

    fn store(self, g: &mut Maker) {
        let inverse = vector(g, "REC", 37, 2, &[self.sum]);
        let outs = self.outs.map(|out| vector(g, "MUL", 38, 128, &[out, inverse]));
        outs.iter().for_each(|out| g.op("COPY_OUT", "MTE3", 191, &[*out]));
        g.op("COPY_OUT", "MTE3", 150, &[self.sum]);
        g.op("COPY_OUT", "MTE3", 150, &[self.most]);
    }
}

/// The tile in L1, made where it is not there yet.
fn tile(g: &mut Maker, place: &mut Option<Buf>) -> (Buf, bool) {
    let new = place.is_none();
    (*place.get_or_insert_with(|| g.alloc("L1", 256)), new)
}

fn load(g: &mut Maker, tiles: &[(Buf, bool)]) {
    tiles.iter().filter(|(_, new)| *new).for_each(|(tile, _)| g.op("COPY_IN", "MTE2", 581, &[*tile]));
}

/// Adds the product of two tiles to an accumulator.
fn product(g: &mut Maker, sum: Buf, a: Buf, b: Buf) {
    let (left, right) = (g.alloc("L0A", 128), g.alloc("L0B", 128));
    g.op("MOVE", "MTE1", 31, &[left, a]);
    g.op("MOVE", "MTE1", 54, &[right, b]);
    g.op("MATMUL", "CUBE", 128, &[sum, right, left]);
}

fn vector(g: &mut Maker, name: &str, cycles: u64, size: u64, reads: &[Buf]) -> Buf {
    let out = g.alloc("UB", size);
    let bufs: Vec<Buf> = [out].iter().chain(reads).copied().collect();
    g.op(name, "VECTOR", cycles, &bufs);
    out
}

/// With a workspace of its own.
fn compact(g: &mut Maker, of: Buf) -> Buf {
    let (out, work) = (g.alloc("UB", 2), g.alloc("UB", 16));
    g.op("COMPACT", "VECTOR", 113, &[out, of, work]);
    out
}

/// Layers of `widths` channel tiles over `tiles` spatial tiles with their neighbours, `depth` layers each; weights are loaded once, partial sums accumulate.
pub(crate) fn conv(tiles: usize, widths: &[usize], depth: usize) -> String {
    let mut g = Maker::default();
    let mut channels = widths.first().copied().unwrap_or(1);
    let mut maps: Vec<Buf> = Vec::new();
    for _ in 0..tiles * channels {
        let map = g.alloc("L1", 96);
        g.op("COPY_IN", "MTE2", 176, &[map]);
        maps.push(map);
    }
    for (stage, width) in widths.iter().copied().enumerate() {
        let size = (96u64 >> stage).max(1);
        for layer in 0..depth {
            let mut weights = vec![None; channels * width];
            let mut next = Vec::new();
            for tile in 0..tiles {
                for to in 0..width {
                    let residual = (layer % 2 == 1 && channels == width).then(|| maps[tile * channels + to]);
                    let mut sum = None;
                    for from in 0..channels {
                        let place = &mut weights[from * width + to];
                        let new = place.is_none();
                        let weight = *place.get_or_insert_with(|| g.alloc("L1", 144));
                        if new {
                            g.op("COPY_IN", "MTE2", 357, &[weight]);
                        }
                        let near = tile.saturating_sub(1)..(tile + 2).min(tiles);
                        let inputs = near.map(|tile| maps[tile * channels + from]);
                        if from + 1 < channels {
                            let sum = *sum.get_or_insert_with(|| g.alloc("L1", 4 * size));
                            let part = g.alloc("L0B", 72);
                            g.op("MOVE", "MTE1", 63, &[part, weight]);
                            let bufs: Vec<Buf> = [sum, part].into_iter().chain(inputs).collect();
                            g.op("CONV", "CUBE", 1783, &bufs);
                        } else {
                            let out = g.alloc("L1", size);
                            let part = g.alloc("L0B", 72);
                            g.op("MOVE", "MTE1", 63, &[part, weight]);
                            let first = [out].into_iter().chain(sum).chain(residual).chain([part]);
                            let name = if residual.is_some() { "CONV_ADD" } else { "CONV" };
                            g.op(name, "CUBE", 1811, &first.chain(inputs).collect::<Vec<_>>());
                            next.push(out);
                        }
                    }
                }
            }
            (maps, channels) = (next, width);
        }
    }
    maps.iter().for_each(|map| g.op("COPY_OUT", "MTE3", 174, &[*map]));
    g.text(true)
}
