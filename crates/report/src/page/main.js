// Brings it together: figures, pickers, what the pointer and the keys do.
const app = { scene: null, tables: [], tab: 0, table: null, found: [], at: -1 };
const stage = byId("stage");

function figure(title, key, value, small, lines, kind) {
  const head = el("h2", {}, title, el("span", {}, small)), big = el("p", { class: "big" }, el("span", { "data-figure": key }, value === null ? "not known" : grouped(value)), value === null ? null : el("small", {}, " B"));
  return el("div", { class: "card " + kind }, head, big, ...lines.map(([text, tone]) => el("p", { class: tone || null, title: text }, text)));
}

function drawFigures(m) {
  const f = m.columns.figures, arena = Number(f.arena), given = Number(f.source_peak), inUnit = value => Number(value) >= 1024 ? human(value) : "";
  const less = given > 0 ? (given - arena) / given * 100 : 0;
  const before = f.source_is_plan ? "with nothing shared" : "as given";
  const change = Math.abs(less) < .05 ? `as much ${before}` : less > 0 ? `${less.toFixed(1)} % less than ${before}` : `${(-less).toFixed(1)} % more than ${before}`;
  const lost = arena - Number(f.peak), gap = f.lower_bound === null ? 0 : Number(f.peak) - Number(f.lower_bound);
  byId("figures").replaceChildren(
    figure("Arena", "plan.arena", f.arena, inUnit(f.arena), [[change, less > 0 ? "good" : ""], lost > 0 ? [`${bytes(lost)} lost between storages`, "warn"] : ["nothing lost between storages", ""]], "main"),
    figure("Peak", "plan.peak", f.peak, inUnit(f.peak), [[f.peak_step === null ? "no steps" : `step ${grouped(f.peak_step)} of ${grouped(m.ops)}, ${f.peak_op}`, ""]], ""),
    figure("Floor", "plan.lower_bound", f.lower_bound, f.lower_bound === null ? "" : inUnit(f.lower_bound),
      [[gap > 0 ? `the peak is ${percent(gap, Number(f.lower_bound))} above` : f.lower_bound === null ? "" : "the peak is there", gap > 0 ? "warn" : "good"], [f.proof, ""]], ""),
    figure(f.source_is_plan ? "Nothing shared" : "As given", "source.peak", f.source_peak, inUnit(f.source_peak), [[f.source_op ? `step ${grouped(f.source_step)}, ${f.source_op}` : "", ""], [m.columns.before, ""]], ""),
    savings(m));
}

/// The ladder from what was given to the arena.
function savings(m) {
  const f = m.columns.figures, box = el("div", { class: "fall" }), given = Number(f.source_peak);
  const ladder = m.columns.saved.filter(([, value]) => Number(value) !== 0);
  let at = given, top = Math.max(given, Number(f.arena));
  for (const [, value] of ladder) { at -= Number(value); top = Math.max(top, at); }
  const row = (label, from, to, kind, text, key) => {
    const low = Math.min(from, to) / (top || 1) * 100, width = Math.abs(to - from) / (top || 1) * 100;
    box.append(el("span", { class: "l" }, label), el("div", { class: "track " + kind }, el("i", { style: { left: low + "%", width: width + "%" } })), el("span", { class: "n", "data-figure": key }, text));
  };
  row(f.source_is_plan ? "nothing shared" : "as given", 0, given, "whole", grouped(f.source_peak), null);
  at = given;
  for (const [name, value] of ladder) {
    const next = at - Number(value);
    row(name, next, at, Number(value) > 0 ? "less" : "more", (Number(value) > 0 ? "\u2212" : "+") + grouped(String(value).replace("-", "")), "saved." + name);
    at = next;
  }
  row("arena", 0, Number(f.arena), "rest", grouped(f.arena), null);
  return el("div", { class: "card saved" }, el("h2", {}, "What saved what", el("span", {}, "bytes")), box);
}

function drawLegend() {
  const { m, shown, arena } = app.scene, parts = [];
  KINDS.forEach((kind, at) => {
    let count = 0;
    for (let i = 0; i < m.count; i++) if (m.kind[i] === at && m.arena[i] === arena) count++;
    if (!count || at === STATE) return;
    const toggle = () => { shown[at] = !shown[at]; drawLegend(); draw(); };
    parts.push(el("button", { type: "button", "aria-pressed": String(shown[at]), title: `Show or hide: ${kind}`, onclick: toggle }, el("i", { style: { "--swatch": swatch(at) } }), kind, el("span", {}, grouped(count))));
  });
  const mark = (name, colour, dash, title) => parts.push(el("span", { class: "line", title }, el("i", { style: { "--swatch": `var(--${colour})`, "--dash": dash } }), name));
  mark("planned", "curve", "solid");
  mark("before", "before", "solid", m.columns.before);
  if (m.columns.figures.lower_bound !== null) mark("floor", "floor", "dashed");
  byId("legend").replaceChildren(...parts);
}

let waiting = 0;
function draw(overOnly) {
  app.dirty ||= !overOnly;
  waiting ||= requestAnimationFrame(() => {
    waiting = 0;
    if (app.dirty) {
      const { view } = app.scene, p = plot(view);
      drawBase(byId("base"), app.scene);
      // For tools that drive the page: what is in sight, and where.
      Object.assign(stage.dataset, { view: [view.x0, view.x1, view.y0, view.y1].join(" "), plot: [p.left, p.top, p.right, p.bottom].join(" ") });
    }
    drawOver(byId("over"), app.scene);
    app.dirty = false;
  });
}

function measure() {
  const box = stage.getBoundingClientRect();
  Object.assign(app.scene.view, { width: box.width, height: box.height });
  draw();
}

/// Shows an arena of a function.
function openArena(arena) {
  const { m, view } = app.scene, place = m.columns.arenas[arena];
  Object.assign(app.scene, { arena, order: paintOrder(m, arena), hover: -1 });
  fitView(view, m.steps, Math.max(Number(place ? place.used : 0), 1));
  select(null);
  drawLegend();
  draw();
}

function openFunction(at) {
  const columns = DATA.functions[at];
  if (!columns) { byId("figures").replaceChildren(el("p", {}, "No function has a plan.")); return; }
  const m = columns.model ||= build(columns), before = app.scene;
  app.scene = { m, arena: 0, view: before ? before.view : makeView(), shown: KINDS.map(() => true), colours: palette(), hover: -1, selected: null, pointer: null };
  const arenas = columns.arenas;
  byId("pick-arena").hidden = arenas.length < 2;
  byId("arena").replaceChildren(...arenas.map((arena, i) => el("option", { value: i }, `@${arena.name}, ${human(arena.used)}`)));
  stage.setAttribute("aria-label", `Memory map of @${columns.name}: ${grouped(m.count)} storages over ${grouped(m.ops)} steps. The tables below hold the same.`);
  drawFigures(m);
  app.tables = tablesOf(m, app);
  openTab(0);
  openArena(0);
  measure();
  const parts = [...columns.others.filter(([, value]) => Number(value) > 0).map(([name, value]) => `${name} ${bytes(value)}`), ...DATA.not_included.map(what => "not included: " + what)];
  byId("foot").textContent = [...parts, `neap ${DATA.neap}`].join("  \u00b7  ");
}

function openTab(at) {
  app.tab = at;
  const table = app.tables[at];
  byId("tabs").replaceChildren(...app.tables.map((other, i) => el("button", {
    type: "button", role: "tab", id: "tab-" + other.id, "aria-selected": String(i === at), "aria-controls": "grid", tabindex: i === at ? 0 : -1, onclick: () => openTab(i),
    onkeydown: event => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (by) { const next = (i + by + app.tables.length) % app.tables.length; openTab(next); byId("tab-" + app.tables[next].id).focus(); }
    },
  }, other.label)));
  byId("grid").setAttribute("aria-label", `${table.label}: arrow keys move from row to row`);
  setColumns(app.table, table.columns, table.label);
  refilter();
}

function refilter() {
  const table = app.tables[app.tab], rows = filtered(table, byId("filter").value), all = table.rows().length;
  setRows(app.table, rows);
  byId("count").textContent = rows.length === all ? `${grouped(all)} rows` : `${grouped(rows.length)} of ${grouped(all)}`;
  if (app.scene.selected) markRow(app.table, table.row(app.scene.selected), false);
}

function select(selected, quiet) {
  app.scene.selected = selected;
  drawDetails(app);
  if (app.tables.length) markRow(app.table, selected ? app.tables[app.tab].row(selected) : -1, !quiet);
  draw(true);
}

/// Selects a storage: its producers, its readers, and what these touch besides.
app.pickStorage = (storage, quiet) => {
  const m = app.scene.m, { makers, readers } = touching(m, storage);
  if (m.arena[storage] !== app.scene.arena && m.offset[storage] >= 0) { openArena(m.arena[storage]); byId("arena").value = String(m.arena[storage]); }
  const touched = [...makers.slice(0, 50).flatMap(step => readsOf(m, step)), ...readers.slice(0, 50).flatMap(step => makesOf(m, step))];
  const near = unique(touched.map(value => m.storageOf[value])).filter(other => other !== storage);
  intoSight(m.begin[storage], m.end[storage], m.offset[storage], m.size[storage]);
  select({ storage, storages: [storage], makers, readers, near }, quiet);
  say(`${storageName(m, storage)}, ${bytes(m.columns.storages.size[storage])}, steps ${liveText(m.begin[storage], m.end[storage])}, ${readers.length} readers`);
};

app.pickOp = (step, quiet) => {
  const m = app.scene.m, of = list => unique(list.map(value => m.storageOf[value]));
  intoSight(step, step + 1, -1, 0);
  select({ op: step, storages: of(makesOf(m, step)), makers: [step], readers: [], near: of(readsOf(m, step)) }, quiet);
  say(`${opText(m, step)}, step ${step}`);
};

/// Moves the view where it does not show a place; the scale stays.
function intoSight(begin, end, offset, size) {
  const { view } = app.scene, { x0, x1, y0, y1 } = view;
  const dx = end <= x0 || begin >= x1 ? (begin + end) / 2 - (x0 + x1) / 2 : 0;
  const dy = offset >= 0 && (offset + size <= y0 || offset >= y1) ? offset + size / 2 - (y0 + y1) / 2 : 0;
  if (dx || dy) { setView(view, x0 + dx, x1 + dx, y0 + dy, y1 + dy); draw(); }
}

/// Zooms to the peak: the step, and enough around it to see what leads there.
function toPeak() {
  const { m, view } = app.scene, step = m.columns.figures.peak_step;
  if (step === null) return;
  const around = Math.max(m.steps / 16, 6);
  setView(view, step + .5 - around, step + .5 + around, 0, view.most);
  draw();
}

const fit = () => { setView(app.scene.view, 0, app.scene.view.steps, 0, app.scene.view.most); draw(); };
function zoom(factor) {
  const { view } = app.scene, p = plot(view);
  zoomView(view, factor, (p.left + p.right) / 2, (p.top + p.bottom) / 2);
  draw();
}

/// The next storage in the order of time, from the selected one.
function step(by) {
  const { m, arena, selected } = app.scene;
  const list = app.scene.byTime ||= range(0, m.count).filter(i => m.offset[i] >= 0).sort((a, b) => m.begin[a] - m.begin[b] || m.offset[a] - m.offset[b]);
  const inside = list.filter(i => m.arena[i] === arena), at = selected && selected.op === undefined ? inside.indexOf(selected.storage) : by > 0 ? -1 : 0;
  if (inside.length) app.pickStorage(inside[(at + by + inside.length) % inside.length]);
}

const KEYS = {
  "+": () => zoom(.7), "=": () => zoom(.7), "-": () => zoom(1 / .7), "0": fit, p: toPeak, n: () => step(1), b: () => step(-1), Escape: () => select(null),
  ArrowLeft: () => { panView(app.scene.view, 80, 0); draw(); }, ArrowRight: () => { panView(app.scene.view, -80, 0); draw(); },
  ArrowUp: () => { panView(app.scene.view, 0, 60); draw(); }, ArrowDown: () => { panView(app.scene.view, 0, -60); draw(); },
};

const place = event => { const box = stage.getBoundingClientRect(); return { x: event.clientX - box.left, y: event.clientY - box.top }; };
const under = ({ x, y }) => {
  const { m, view, arena, shown } = app.scene, p = plot(view);
  return x < p.left || x > p.right || y < p.top || y > p.bottom ? -1 : storageAt(m, arena, shown, Math.floor(fromX(view, x)), fromY(view, y));
};

function hover(at) {
  const { m, view } = app.scene, i = under(at), tip = byId("tip"), p = plot(view);
  Object.assign(app.scene, { hover: i, pointer: at });
  const stepAt = Math.floor(fromX(view, at.x)), curve = at.y < p.top && at.x > p.left && at.x < p.right && stepAt >= 0 && stepAt < m.ops;
  tip.hidden = i < 0 && !curve;
  if (i >= 0) tip.replaceChildren(...tipOf(m, i).filter(Boolean));
  else if (curve) tip.replaceChildren(el("b", {}, `step ${grouped(stepAt)}: ${bytes(m.columns.curves[1][stepAt])}`), el("div", { class: "also" }, opText(m, stepAt)));
  if (!tip.hidden) {
    const w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = `${at.x + 18 + w > view.width ? Math.max(at.x - w - 14, 4) : at.x + 18}px`;
    tip.style.top = `${Math.min(Math.max(at.y + 14, 4), Math.max(view.height - h - 4, 4))}px`;
  }
  draw(true);
}

let drag = null;
stage.addEventListener("pointerdown", event => {
  drag = { ...place(event), moved: false };
  stage.setPointerCapture(event.pointerId);
});
stage.addEventListener("pointermove", event => {
  const at = place(event);
  if (!drag) return hover(at);
  const dx = at.x - drag.x, dy = at.y - drag.y;
  if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 5) return;
  byId("tip").hidden = true;
  stage.classList.add("drag");
  panView(app.scene.view, dx, dy);
  drag = { ...at, moved: true };
  app.scene.pointer = null;
  draw();
});
stage.addEventListener("pointerup", event => {
  const at = place(event), moved = drag && drag.moved;
  drag = null;
  stage.classList.remove("drag");
  if (moved) return;
  const i = under(at), p = plot(app.scene.view), stepAt = Math.floor(fromX(app.scene.view, at.x));
  if (i >= 0) app.pickStorage(i);
  else if (at.y < p.top && at.x > p.left && stepAt >= 0 && stepAt < app.scene.m.ops) app.pickOp(stepAt);
  else select(null);
});
stage.addEventListener("pointerleave", () => { Object.assign(app.scene, { hover: -1, pointer: null }); byId("tip").hidden = true; draw(true); });
stage.addEventListener("dblclick", event => { const at = place(event); zoomView(app.scene.view, .4, at.x, at.y); draw(); });
let hinted = 0;
stage.addEventListener("wheel", event => {
  // The wheel belongs to the page until the map has the focus.
  if (!event.ctrlKey && !event.metaKey && document.activeElement !== stage) {
    byId("hint").hidden = false;
    clearTimeout(hinted);
    hinted = setTimeout(() => { byId("hint").hidden = true; }, 1200);
    return;
  }
  event.preventDefault();
  const at = place(event);
  zoomView(app.scene.view, Math.exp(Math.max(Math.min(event.deltaY, 120), -120) / 400), at.x, at.y, event.shiftKey ? "x" : event.altKey ? "y" : null);
  draw();
}, { passive: false });
stage.addEventListener("keydown", event => {
  const act = KEYS[event.key] || KEYS[event.key.toLowerCase()];
  if (act && !event.ctrlKey && !event.metaKey) { event.preventDefault(); act(); }
});

const box = byId("search"), list = byId("found");
function showFound() {
  app.found = search(app.scene.m, box.value, 50);
  app.at = app.found.length ? 0 : -1;
  list.hidden = !box.value.trim();
  box.setAttribute("aria-expanded", String(!list.hidden));
  const rows = app.found.map((one, i) => el("li", { role: "option", id: "found-" + i, onpointerdown: event => { event.preventDefault(); take(i); } }, el("span", { class: "name" }, one.name), el("span", { class: "what" }, one.what)));
  list.replaceChildren(...(rows.length ? rows : [el("li", { class: "none" }, "No value and no operation has this in its name.")]));
  mark(0);
}
function mark(at) {
  app.at = app.found.length ? (at + app.found.length) % app.found.length : -1;
  [...list.children].forEach((row, i) => row.setAttribute("aria-selected", String(i === app.at)));
  if (app.at >= 0) { box.setAttribute("aria-activedescendant", "found-" + app.at); list.children[app.at].scrollIntoView({ block: "nearest" }); } else box.removeAttribute("aria-activedescendant");
}
function take(at) {
  const one = app.found[at];
  list.hidden = true;
  box.setAttribute("aria-expanded", "false");
  if (one) one.value === undefined ? app.pickOp(one.op) : app.pickStorage(app.scene.m.storageOf[one.value]);
}
box.addEventListener("input", showFound);
box.addEventListener("blur", () => { list.hidden = true; });
box.addEventListener("keydown", event => {
  const act = { ArrowDown: () => mark(app.at + 1), ArrowUp: () => mark(app.at - 1), Enter: () => take(app.at), Escape: () => { box.value = ""; showFound(); box.blur(); } }[event.key];
  if (act) { event.preventDefault(); act(); }
});
document.addEventListener("keydown", event => {
  if (event.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) { event.preventDefault(); box.focus(); }
});

let filterWait = 0;
byId("filter").addEventListener("input", () => { clearTimeout(filterWait); filterWait = setTimeout(refilter, app.scene.m.count > 20000 ? 150 : 0); });
byId("function").addEventListener("change", event => openFunction(Number(event.target.value)));
byId("arena").addEventListener("change", event => openArena(Number(event.target.value)));
byId("fit").addEventListener("click", fit);
byId("to-peak").addEventListener("click", toPeak);
byId("zoom-in").addEventListener("click", () => zoom(.7));
byId("zoom-out").addEventListener("click", () => zoom(1 / .7));

/// Light or dark: as the system has it until the user says otherwise.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
function setTheme(name) {
  document.documentElement.dataset.theme = name;
  byId("theme").setAttribute("aria-pressed", String(name === "dark"));
  if (app.scene) { app.scene.colours = palette(); draw(); }
}
let chosen = false;
setTheme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => { if (!chosen) setTheme(dark.matches ? "dark" : "light"); });
byId("theme").addEventListener("click", () => { chosen = true; setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); });

const name = DATA.input.split("/").pop();
document.title = `${name}: memory plan`;
byId("input").textContent = DATA.input;
byId("input").title = DATA.input;
byId("chips").append(el("span", { class: DATA.checked ? "chip good" : "chip warn" }, DATA.checked ? "checked" : "NOT CHECKED"), el("span", { class: "chip" }, "profile " + DATA.profile));
byId("pick-function").hidden = DATA.functions.length < 2;
byId("function").replaceChildren(...DATA.functions.map((columns, i) => el("option", { value: i }, `@${columns.name}, ${human(columns.figures.arena)}`)));
app.table = makeTable(byId("grid"), row => app.tables[app.tab].pick(row));
// The function that needs most is shown first.
const largest = DATA.functions.reduce((best, columns, i) => Number(columns.figures.arena) > Number(DATA.functions[best].figures.arena) ? i : best, 0);
byId("function").value = String(largest);
openFunction(largest);
if (app.scene) new ResizeObserver(measure).observe(stage);
document.documentElement.dataset.ready = "true";
