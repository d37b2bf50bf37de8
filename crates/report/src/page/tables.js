// The tables: which columns each has, which rows a filter leaves, and the search by name.

const numeric = (label, width, key, text) => ({ label, width, n: true, key, text });
/// Names of which the end says most: that end stays in sight.
const names = (label, width, text) => ({ ...words(label, width, text), class: "tail", cell: row => el("bdi", { dir: "ltr", title: text(row) }, text(row)) });
const words = (label, width, text) => ({ label, width, key: row => text(row).toLowerCase(), text });
const kindCell = (m, of) => ({
  label: "kind", width: "118px", class: "kind", key: row => KINDS[m.kind[of(row)]], text: row => KINDS[m.kind[of(row)]],
  cell: row => el("span", {}, el("i", { style: { "--swatch": swatch(m.kind[of(row)]) } }), KINDS[m.kind[of(row)]]),
});
const more = (m, i) => { const n = m.first[i + 1] - m.first[i]; return n > 1 ? `${storageName(m, i)}  +${n - 1}` : storageName(m, i); };

function storageColumns(m) {
  const s = m.columns.storages, same = row => row;
  const columns = [
    numeric("id", "74px", same, row => String(row)), kindCell(m, same), names("name", "", row => more(m, row)), words("made by", "200px", row => storageOp(m, row).split(" (")[0]),
    words("type", "190px", row => m.first[row] < m.first[row + 1] ? typeOf(m, m.first[row]) : ""),
    numeric("offset", "120px", row => m.offset[row], row => offsetText(m, row)), numeric("size", "120px", row => m.size[row], row => sizeText(m, row)),
    numeric("first step", "92px", row => m.begin[row], row => String(s.begin[row])), numeric("end", "80px", row => m.end[row], row => String(s.end[row])),
  ];
  if (m.columns.arenas.length > 1) columns.splice(2, 0, words("arena", "100px", row => arenaName(m, row)));
  return columns;
}

function valueColumns(m) {
  const v = m.columns.values, count = row => m.readers.starts[row + 1] - m.readers.starts[row];
  return [
    names("name", "", row => v.name[row]), words("value", "110px", row => v.ssa[row]), words("type", "190px", row => typeOf(m, row)),
    words("made by", "200px", row => m.madeAt[row] < 0 ? "argument" : opKind(m, m.madeAt[row])),
    numeric("bytes", "120px", row => Number(v.bytes[row]), row => grouped(v.bytes[row])), numeric("readers", "84px", count, row => String(count(row))),
    numeric("first step", "92px", row => v.begin[row], row => String(v.begin[row])), numeric("end", "80px", row => v.end[row], row => String(v.end[row])),
    numeric("storage", "84px", row => m.storageOf[row], row => String(m.storageOf[row])),
  ];
}

function opColumns(m) {
  const held = m.columns.curves[1], { reads, makes } = m.columns.ops, count = flat => row => flat.starts[row + 1] - flat.starts[row];
  return [
    numeric("step", "84px", row => row, row => String(row)), words("operation", "240px", row => opKind(m, row)), names("name", "", row => m.columns.ops.name[row]),
    numeric("reads", "84px", count(reads), row => String(count(reads)(row))), numeric("makes", "84px", count(makes), row => String(count(makes)(row))),
    numeric("bytes held", "130px", row => m.after[row], row => grouped(held[row])),
    numeric("of the peak", "110px", row => m.after[row], row => percent(m.after[row], Number(m.columns.figures.peak))),
  ];
}

function peakColumns(m) {
  const columns = storageColumns(m), share = row => percent(m.size[row], Number(m.columns.figures.peak));
  columns.splice(columns.findIndex(column => column.label === "size") + 1, 0, numeric("of the peak", "104px", row => m.size[row], share));
  return columns;
}

function passColumns() {
  const p = DATA.passes, stats = row => p[row].stats.map(([name, count]) => `${name} ${grouped(count)}`).join(", ");
  return [
    words("pass", "190px", row => p[row].name), words("function", "190px", row => "@" + p[row].function),
    words("changed", "100px", row => p[row].changed ? "yes" : "no"), words("counted", "", stats),
  ];
}

const storageText = m => i => [...valuesOf(m, i).flatMap(v => [m.columns.values.name[v], m.columns.values.ssa[v], typeOf(m, v)]), storageOp(m, i), KINDS[m.kind[i]]].join(" ");
const storageFields = m => ({
  id: i => i, size: i => m.size[i], offset: i => m.offset[i], begin: i => m.begin[i], end: i => m.end[i], live: i => m.end[i] - m.begin[i],
  align: i => Number(m.columns.storages.align[i]), kind: i => KINDS[m.kind[i]], arena: i => arenaName(m, i), op: i => storageOp(m, i), span: i => [m.begin[i], m.end[i]],
});

/// All tables: label, rows, columns, what a word is looked for in, what a field of the filter means, what a click selects.
function tablesOf(m, app) {
  const everything = count => () => range(0, count), held = () => m.columns.figures.at_peak;
  const v = m.columns.values;
  const valueFields = {
    size: i => Number(v.bytes[i]), bytes: i => Number(v.bytes[i]), begin: i => v.begin[i], end: i => v.end[i], span: i => [v.begin[i], v.end[i]],
    kind: i => KINDS[m.kind[m.storageOf[i]]], op: i => m.madeAt[i] < 0 ? "" : opText(m, m.madeAt[i]), storage: i => m.storageOf[i],
    readers: i => m.readers.starts[i + 1] - m.readers.starts[i],
  };
  const opFields = { size: i => m.after[i], op: i => opKind(m, i), kind: i => opKind(m, i), span: i => [i, i + 1] };
  const storage = { text: storageText(m), fields: storageFields(m), pick: row => app.pickStorage(row, true), row: s => s.op === undefined ? s.storage : -1 };
  return [
    { id: "storages", label: "Storages", rows: everything(m.count), columns: storageColumns(m), ...storage },
    { id: "values", label: "Values", rows: everything(m.values), columns: valueColumns(m), text: i => `${v.name[i]} ${v.ssa[i]} ${typeOf(m, i)}`,
      fields: valueFields, pick: row => app.pickStorage(m.storageOf[row], true), row: () => -1 },
    { id: "ops", label: "Operations", rows: everything(m.ops), columns: opColumns(m), text: i => opText(m, i), fields: opFields,
      pick: row => app.pickOp(row, true), row: s => s.op === undefined ? -1 : s.op },
    { id: "peak", label: "At the peak", rows: held, columns: peakColumns(m), ...storage },
    { id: "passes", label: "Passes", rows: everything(DATA.passes.length), columns: passColumns(), text: i => `${DATA.passes[i].name} ${DATA.passes[i].function}`,
      fields: {}, pick: () => {}, row: () => -1 },
  ];
}

/// A size in a filter: `4096`, `4K`, `4KiB`.
function parseSize(text) {
  const found = /^(\d+(?:\.\d+)?)\s*(?:([kmg])(?:ib)?|b)?$/i.exec(text);
  if (!found) return NaN;
  return Number(found[1]) * 1024 ** (found[2] ? "kmg".indexOf(found[2].toLowerCase()) + 1 : 0);
}

/// What a filter asks of a row: every word is somewhere in its text, every comparison holds.
function tests(filter, fields) {
  return filter.trim().split(/\s+/).filter(Boolean).map(word => {
    const found = /^([a-z]+)(<=|>=|=|<|>)(.+)$/i.exec(word);
    const name = found && found[1].toLowerCase(), value = found && found[3].toLowerCase();
    if (found && name === "step" && fields.span) { const at = Number(value); return { row: i => fields.span(i)[0] <= at && at < fields.span(i)[1] }; }
    if (!found || !fields[name]) return { word: word.toLowerCase() };
    const number = parseSize(value), of = fields[name];
    const row = {
      "=": i => { const x = of(i); return typeof x === "string" ? x.toLowerCase().includes(value) : x === number; },
      "<": i => of(i) < number, ">": i => of(i) > number, "<=": i => of(i) <= number, ">=": i => of(i) >= number,
    }[found[2]];
    return { row };
  });
}

function filtered(table, filter) {
  const asked = tests(filter, table.fields), all = table.rows();
  if (asked.length === 0) return all;
  // Texts are put together once, when they are first asked for.
  const text = i => (table.texts ||= [])[i] ??= table.text(i).toLowerCase();
  return all.filter(i => asked.every(test => test.row ? test.row(i) : text(i).includes(test.word)));
}

/// Values and operations whose names hold a text; those that begin with it first.
function search(m, asked, most) {
  const word = asked.trim().toLowerCase(), found = [];
  if (!word) return [];
  const look = (list, make) => {
    for (let i = 0; i < list.length; i++) {
      const name = list[i].toLowerCase(), at = name.indexOf(word);
      if (at >= 0) found.push({ rank: name === word ? 0 : at === 0 ? 1 : 2, length: name.length, ...make(i) });
    }
  };
  look(m.columns.values.name, i => ({ value: i, name: m.columns.values.name[i], what: `value, ${bytes(m.columns.values.bytes[i])}` }));
  look(m.columns.values.ssa, i => ({ value: i, name: m.columns.values.name[i], what: `value ${m.columns.values.ssa[i]}` }));
  look(range(0, m.ops).map(i => opText(m, i)), i => ({ op: i, name: opName(m, i), what: `${opKind(m, i)}, step ${grouped(i)}` }));
  found.sort((a, b) => a.rank - b.rank || a.length - b.length);
  const seen = new Set();
  return found.filter(one => one.value === undefined || !seen.has(one.value) && seen.add(one.value)).slice(0, most);
}
