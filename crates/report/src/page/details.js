// What is said beside the map: of the selection, or, without one, what the peak is made of.

/// Lists are cut here; the tables have everything.
const LISTED = 40;

function listed(items, make) {
  const list = el("ul", {}, ...items.slice(0, LISTED).map(make));
  if (items.length > LISTED) list.append(el("li", {}, `and ${grouped(items.length - LISTED)} more, see the tables`));
  return list;
}

function heading(text, colour) {
  return el("h3", {}, colour ? el("i", { style: { "--swatch": colour } }) : null, text);
}

function facts(rows) {
  const list = el("dl", { class: "facts" });
  for (const [name, text] of rows.filter(row => row[1] !== "")) list.append(el("dt", {}, name), el("dd", {}, text));
  return list;
}

/// A line for an operation that selects it.
function opLine(app, step) {
  const m = app.scene.m, kind = opKind(m, step), name = opName(m, step);
  const pick = el("button", { class: "link", type: "button", onclick: () => app.pickOp(step) }, name);
  return el("li", {}, el("span", {}, pick, name === kind ? null : el("span", { class: "sub" }, kind)), el("span", { class: "n" }, `step ${grouped(step)}`));
}

/// A line for a value that selects its storage.
function valueLine(app, value) {
  const m = app.scene.m, v = m.columns.values;
  const pick = el("button", { class: "link", type: "button", onclick: () => app.pickStorage(m.storageOf[value]) }, v.name[value]);
  const at = Number(v.at[value]) > 0 ? `, ${grouped(v.at[value])} B into the storage` : "";
  const sub = el("span", { class: "sub" }, `${typeOf(m, value)}${at}`);
  return el("li", {}, el("span", {}, pick, sub), el("span", { class: "n" }, bytes(v.bytes[value]), el("span", { class: "sub" }, liveText(v.begin[value], v.end[value]))));
}

function storageDetails(app, i) {
  const m = app.scene.m, s = m.columns.storages, values = valuesOf(m, i), { makers, readers } = touching(m, i);
  const parts = [
    el("h2", {}, `Storage ${i}, ${KINDS[m.kind[i]]}`), el("p", { class: "who" }, storageName(m, i)),
    facts([
      ["size", `${bytes(s.size[i])}${Number(s.size[i]) >= 1024 ? ` (${human(s.size[i])})` : ""}`],
      ["offset", s.offset[i] === null ? "" : bytes(s.offset[i])],
      ["live", `steps ${liveText(s.begin[i], s.end[i])}, ${grouped(s.end[i] - s.begin[i])} in all`],
      ["alignment", grouped(s.align[i])], ["arena", m.columns.arenas.length > 1 ? arenaName(m, i) : ""],
      ["at the peak", m.atPeak[i] ? `yes, ${percent(Number(s.size[i]), Number(m.columns.figures.peak))} of it` : "no"],
    ]),
  ];
  if (values.length) parts.push(heading(values.length > 1 ? `${values.length} values share these bytes` : "Holds"), listed(values, value => valueLine(app, value)));
  parts.push(heading("Made by", "var(--floor)"), makers.length ? listed(makers, step => opLine(app, step)) : el("p", {}, "an argument: there before the first step"));
  if (values.length) parts.push(heading("Read by", "var(--reader)"), readers.length ? listed(readers, step => opLine(app, step)) : el("p", {}, m.kind[i] === KINDS.indexOf("result") ? "no operation: it is a result" : "no operation"));
  return parts;
}

function opDetails(app, step) {
  const m = app.scene.m, reads = readsOf(m, step), makes = makesOf(m, step);
  const parts = [
    el("h2", {}, `Operation at step ${grouped(step)}`), el("p", { class: "who" }, opName(m, step)),
    facts([
      ["kind", opKind(m, step)],
      ["bytes held", bytes(m.columns.curves[1][step])],
      ["of the peak", percent(m.after[step], Number(m.columns.figures.peak))],
    ]),
  ];
  if (reads.length) parts.push(heading("Reads", "var(--reader)"), listed(reads, value => valueLine(app, value)));
  if (makes.length) parts.push(heading("Makes", "var(--floor)"), listed(makes, value => valueLine(app, value)));
  return parts;
}

function peakDetails(app) {
  const m = app.scene.m, figures = m.columns.figures, held = figures.at_peak;
  if (figures.peak_step === null) return [el("h2", {}, "The peak"), el("p", {}, "No operation takes a step.")];
  const row = i => el("li", {},
    el("div", { class: "row" },
      el("button", { class: "link", type: "button", onclick: () => app.pickStorage(i) }, storageName(m, i)),
      el("span", { class: "n" }, bytes(m.columns.storages.size[i]))),
    el("div", { class: "track", style: { "--swatch": swatch(m.kind[i]) } },
      el("i", { style: { width: percent(m.size[i], Number(figures.peak)).replace(" ", "") } })));
  const list = listed(held, row);
  list.classList.add("bars");
  return [
    el("h2", {}, "What the peak holds"), el("p", { class: "who" }, bytes(figures.peak)),
    el("p", { class: "sub" }, "at step ", grouped(figures.peak_step), " in ",
      el("button", { class: "link", type: "button", onclick: () => app.pickOp(figures.peak_step) }, figures.peak_op)),
    heading(`${held.length} storages`), list,
  ];
}

function drawDetails(app) {
  const { selected } = app.scene;
  const parts = !selected ? peakDetails(app) : selected.op === undefined ? storageDetails(app, selected.storage) : opDetails(app, selected.op);
  const box = byId("details");
  box.replaceChildren(...parts);
  box.scrollTop = 0;
}

/// What is said at the pointer.
function tipOf(m, i) {
  const s = m.columns.storages, values = valuesOf(m, i), names = m.columns.values.name, { makers, readers } = touching(m, i);
  const first = values.length ? typeOf(m, values[0]) : "";
  const others = values.slice(1, 5).map(value => names[value]);
  if (values.length > 5) others.push(`${values.length - 5} more`);
  const step = list => list.length > 4 ? `${list.length} operations` : list.map(at => opText(m, at)).join(", ");
  const rows = [
    ["size", bytes(s.size[i])], ["offset", s.offset[i] === null ? "" : bytes(s.offset[i])], ["live", `steps ${liveText(s.begin[i], s.end[i])}`],
    ["type", first], ["made by", makers.length ? step(makers) : "argument"], ["read by", step(readers)],
  ];
  return [el("b", {}, storageName(m, i)), others.length ? el("div", { class: "also" }, "same bytes: " + others.join(", ")) : null, facts(rows)];
}
