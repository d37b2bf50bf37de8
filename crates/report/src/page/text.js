// How numbers and names are written, and how elements are made. All text of a model enters the page as text, never as markup.
const grouped = value => String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const bytes = value => grouped(value) + " B";
const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/// Three digits in the unit that a person would choose.
function human(value) {
  let number = Number(value);
  if (Math.abs(number) < 1024) return Math.round(number) + " B";
  let unit = -1;
  do { number /= 1024; unit++; } while (Math.abs(number) >= 999.5 && unit < 4);
  return number.toFixed(Math.abs(number) < 9.995 ? 2 : Math.abs(number) < 99.95 ? 1 : 0) + " " + UNITS[unit];
}

/// Shorter, for axes.
function tickLabel(value) {
  if (value === 0) return "0";
  for (let unit = 5; unit > 0; unit--) {
    const scale = 1024 ** unit;
    if (value >= scale) return +(value / scale).toFixed(2) + " " + UNITS[unit - 1];
  }
  return value + " B";
}

const percent = (part, whole) => Number(whole) > 0 ? (part / whole * 100).toFixed(1) + " %" : "0 %";
const opText = (m, step) => {
  const kind = DATA.strings[m.columns.ops.kind[step]], name = m.columns.ops.name[step];
  return name ? `${kind} (${name})` : kind;
};
const opKind = (m, step) => DATA.strings[m.columns.ops.kind[step]];
const opName = (m, step) => m.columns.ops.name[step] || opKind(m, step);
const storageOp = (m, i) => DATA.strings[m.columns.storages.op[i]];
const typeOf = (m, value) => DATA.strings[m.columns.values.ty[value]];
const storageName = (m, i) => m.first[i] < m.first[i + 1] ? m.columns.values.name[m.first[i]] : "scratch of " + storageOp(m, i);
const liveText = (begin, end) => `${begin}..${end}`;
const offsetText = (m, i) => m.columns.storages.offset[i] === null ? "-" : grouped(m.columns.storages.offset[i]);
const sizeText = (m, i) => grouped(m.columns.storages.size[i]);
const arenaName = (m, i) => (m.columns.arenas[m.arena[i]] || { name: "" }).name;

/// An element with attributes and children; strings become text.
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const byId = id => document.getElementById(id);
const swatch = kind => KINDS[kind] === "temporary" ? "var(--temporary-0)" : `var(--${KINDS[kind]})`;
const say = text => { byId("say").textContent = text; };
