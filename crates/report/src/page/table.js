// A table of any length: only the rows in sight are in the document, and the document says how many there are.
const ROW = 30, AROUND = 12;

function makeTable(box, onPick) {
  const table = { box, columns: [], rows: [], sort: { at: -1, down: false }, selected: -1, cursor: -1 };
  box.addEventListener("scroll", () => { if (!table.waiting) table.waiting = requestAnimationFrame(() => { table.waiting = 0; drawRows(table); }); });
  box.addEventListener("click", event => {
    const row = event.target.closest("tr[data-row]");
    if (row) { table.cursor = Number(row.dataset.at); onPick(Number(row.dataset.row)); }
  });
  box.addEventListener("keydown", event => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -Infinity, End: Infinity }[event.key];
    if (by !== undefined && event.target === box) {
      event.preventDefault();
      table.cursor = Math.min(Math.max(table.cursor + by, 0), table.rows.length - 1);
      if (table.cursor >= 0) { reveal(table, table.cursor); onPick(table.rows[table.cursor]); }
    }
  });
  return table;
}

/// Shows other columns; rows follow with `setRows`.
function setColumns(table, columns, label) {
  Object.assign(table, { columns, sort: { at: -1, down: false }, selected: -1, cursor: -1 });
  table.body = el("tbody");
  table.head = columns.map((column, at) => el("th", { scope: "col", class: column.n ? "n" : null, style: column.width ? { width: column.width } : {} },
    el("button", { type: "button", title: `Sort by ${column.label}`, onclick: () => sortBy(table, at) }, column.label)));
  table.element = el("table", { "aria-label": label }, el("thead", {}, el("tr", { "aria-rowindex": 1 }, ...table.head)), table.body);
  table.box.replaceChildren(table.element);
}

function setRows(table, rows) {
  table.natural = rows;
  table.element.setAttribute("aria-rowcount", rows.length + 1);
  table.cursor = -1;
  applySort(table);
  table.box.scrollTop = 0;
  drawRows(table);
}

function sortBy(table, at) {
  const same = table.sort.at === at;
  // Numbers begin with the largest, words with the first.
  table.sort = { at, down: same ? !table.sort.down : Boolean(table.columns[at].n) };
  applySort(table);
  drawRows(table);
}

function applySort(table) {
  const { at, down } = table.sort;
  table.head.forEach((th, i) => i === at ? th.setAttribute("aria-sort", down ? "descending" : "ascending") : th.removeAttribute("aria-sort"));
  table.rows = Array.from(table.natural);
  if (at < 0) return;
  const key = table.columns[at].key, keys = new Map(table.rows.map(row => [row, key(row)])), sign = down ? -1 : 1;
  table.rows.sort((a, b) => {
    const x = keys.get(a), y = keys.get(b);
    return x < y ? -sign : x > y ? sign : a - b;
  });
}

function reveal(table, at) {
  const top = at * ROW, { scrollTop, clientHeight } = table.box, head = ROW;
  if (top < scrollTop) table.box.scrollTop = top;
  else if (top + ROW > scrollTop + clientHeight - head) table.box.scrollTop = top + ROW - clientHeight + head;
}

/// Marks a row, and brings it into sight if it is in the table.
function markRow(table, row, show) {
  table.selected = row;
  const at = table.rows.indexOf(row);
  if (show && at >= 0) { table.cursor = at; reveal(table, at); }
  drawRows(table);
}

function drawRows(table) {
  const { box, columns, rows } = table;
  const from = Math.max(Math.floor(box.scrollTop / ROW) - AROUND, 0);
  const to = Math.min(from + Math.ceil(box.clientHeight / ROW) + 2 * AROUND, rows.length);
  const pad = height => el("tr", { class: "pad", "aria-hidden": "true" }, el("td", { colspan: columns.length, style: { height: `${height}px` } }));
  const list = [pad(from * ROW)];
  for (let at = from; at < to; at++) {
    const row = rows[at];
    const cells = columns.map(column => {
      const content = column.cell ? column.cell(row) : column.text(row);
      return el("td", { class: column.class || (column.n ? "n" : null), title: column.cell ? null : content }, content);
    });
    list.push(el("tr", { "data-row": row, "data-at": at, "aria-rowindex": at + 2, "aria-selected": row === table.selected ? "true" : null }, ...cells));
  }
  if (rows.length === 0) list.push(el("tr", {}, el("td", { class: "none", colspan: columns.length }, "Nothing matches.")));
  list.push(pad((rows.length - to) * ROW));
  table.body.replaceChildren(...list);
}
