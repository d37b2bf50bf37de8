// The memory map and the curve of live bytes on two canvases: what changes with the view below, what changes with the pointer above.

/// Colours as the style sheet has them now.
function palette() {
  const style = getComputedStyle(document.documentElement), get = name => style.getPropertyValue("--" + name).trim();
  const fills = KINDS.map(kind => kind === "temporary" ? range(0, 4).map(i => get("temporary-" + i)) : [get(kind)]);
  const names = ["plot", "grid", "label", "edge", "mute", "ink", "curve", "fill", "before", "floor", "peak", "reader", "select", "panel", "line"];
  return { fills, ...Object.fromEntries(names.map(name => [name, get(name)])) };
}

const SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
const font = (size, weight = 400) => `${weight} ${size}px ${SANS}`;

/// A canvas as large as its place, in the pixels of the screen.
function prepare(canvas, view) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(view.width * ratio), Math.round(view.height * ratio)];
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  const ctx = canvas.getContext("2d");
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, view.width, view.height);
  return ctx;
}

/// Storages of an arena in the order of their colours, so that a colour is set once. Neighbours get different shades.
function paintOrder(m, arena) {
  const groups = KINDS.map(kind => kind === "temporary" ? [[], [], [], []] : [[]]);
  for (let i = 0; i < m.count; i++)
    if (m.arena[i] === arena && m.offset[i] >= 0) { const list = groups[m.kind[i]]; list[i % list.length].push(i); }
  return groups.map(lists => lists.map(list => Int32Array.from(list)));
}

function drawBase(canvas, scene) {
  const { view, m, colours } = scene, ctx = prepare(canvas, view), p = plot(view);
  ctx.fillStyle = colours.plot;
  ctx.fillRect(p.left, p.top, p.right - p.left, p.bottom - p.top);
  ctx.fillRect(p.left, PAD.top, p.right - p.left, PAD.curve);
  drawAxes(ctx, scene, p);
  clipped(ctx, p.left, p.top, p.right, p.bottom, () => drawStorages(ctx, scene));
  const top = curveTop(m);
  clipped(ctx, p.left, PAD.top, p.right, PAD.top + PAD.curve, () => drawCurve(ctx, scene, p, top));
  drawFloor(ctx, scene, p, top);
  drawPeak(ctx, scene, p, top);
  drawCapacity(ctx, scene, p);
}

function clipped(ctx, x0, y0, x1, y1, draw) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x0, y0, x1 - x0, y1 - y0);
  ctx.clip();
  draw();
  ctx.restore();
}

function drawAxes(ctx, { view, m, colours }, p) {
  ctx.strokeStyle = colours.grid;
  ctx.lineWidth = 1;
  ctx.fillStyle = colours.mute;
  ctx.font = font(11);
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  for (const at of ticks(view.y0, view.y1, (p.bottom - p.top) / 70, true)) {
    const y = Math.round(toY(view, at)) + .5;
    line(ctx, p.left, y, p.right, y);
    ctx.fillText(tickLabel(at), p.left - 8, y);
  }
  const top = curveTop(m);
  for (const at of ticks(0, top, 3, true)) {
    const y = Math.round(curveY(at, top)) + .5;
    line(ctx, p.left, y, p.right, y);
    ctx.fillText(tickLabel(at), p.left - 8, Math.max(y, PAD.top + 5));
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  for (const at of ticks(view.x0, view.x1, (p.right - p.left) / 90, false)) {
    const x = Math.round(toX(view, at)) + .5;
    line(ctx, x, p.top, x, p.bottom);
    ctx.fillText(grouped(at), Math.min(Math.max(x, p.left + 8), p.right - 14), p.bottom + 7);
  }
  ctx.textAlign = "left";
  ctx.fillText("step", 8, p.bottom + 7);
  sideways(ctx, "bytes held", 13, PAD.top + PAD.curve / 2);
  sideways(ctx, "offset in the arena", 13, (p.top + p.bottom) / 2);
}

function sideways(ctx, text, x, y) {
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate(-Math.PI / 2);
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ctx.fillText(text, 0, 0);
  ctx.restore();
}

function line(ctx, x0, y0, x1, y1) {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

/// The rectangle of a storage on the canvas.
function rectOf({ view, m }, i) {
  const x = toX(view, m.begin[i]), y = toY(view, m.offset[i] + m.size[i]);
  return { x, y, w: toX(view, m.end[i]) - x, h: toY(view, m.offset[i]) - y };
}

function drawStorages(ctx, scene) {
  const { view, m, order, shown, colours } = scene, p = plot(view), labels = [];
  const sx = (p.right - p.left) / (view.x1 - view.x0), sy = (p.bottom - p.top) / (view.y1 - view.y0);
  order.forEach((lists, kind) => {
    if (!shown[kind]) return;
    lists.forEach((list, shade) => {
      ctx.fillStyle = colours.fills[kind][shade];
      for (const i of list) {
        if (m.end[i] < view.x0 || m.begin[i] > view.x1 || m.offset[i] > view.y1 || m.offset[i] + m.size[i] < view.y0) continue;
        const x = p.left + (m.begin[i] - view.x0) * sx, w = (m.end[i] - m.begin[i]) * sx;
        const h = m.size[i] * sy, y = p.bottom - (m.offset[i] - view.y0) * sy - h;
        // A hair of the ground between two rectangles keeps them apart while there is room for it.
        const gx = w > 3 ? .5 : 0, gy = h > 3 ? .5 : 0;
        ctx.fillRect(x + gx, y + gy, Math.max(w - 2 * gx, .6), Math.max(h - 2 * gy, .6));
        if (w > 56 && h > 15 && labels.length < 600) labels.push(i);
      }
    });
  });
  drawLabels(ctx, scene, labels, p);
}

function drawLabels(ctx, scene, labels, p) {
  const { m, colours } = scene;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  for (const i of labels) {
    const r = rectOf(scene, i), left = Math.max(r.x, p.left), right = Math.min(r.x + r.w, p.right);
    const top = Math.max(r.y, p.top), bottom = Math.min(r.y + r.h, p.bottom);
    if (right - left < 50 || bottom - top < 14) continue;
    const two = bottom - top > 32, middle = (top + bottom) / 2;
    ctx.fillStyle = colours.label;
    ctx.font = font(11, 500);
    ctx.fillText(short(ctx, storageName(m, i), right - left - 12), left + 6, two ? middle - 7 : middle);
    if (two) {
      ctx.font = font(10.5);
      ctx.globalAlpha = .72;
      ctx.fillText(human(m.columns.storages.size[i]), left + 6, middle + 8);
      ctx.globalAlpha = 1;
    }
  }
}

/// The end of a model's names says more than the start.
function short(ctx, text, room) {
  const width = ctx.measureText(text).width;
  if (width <= room) return text;
  const most = Math.max(Math.floor(room / width * text.length) - 1, 2);
  return text.length <= most ? text : "\u2026" + text.slice(text.length - most + 1);
}

const most = list => { let top = 0; for (const value of list) if (value > top) top = value; return top; };
const curveTop = m => (m.top ||= Math.max(most(m.before), most(m.after), 1) * 1.08);
const curveY = (at, top) => PAD.top + PAD.curve - at / top * PAD.curve;

function drawCurve(ctx, { view, m, colours }, p, top) {
  const path = (list, steps) => {
    ctx.beginPath();
    const per = steps / Math.max(list.length, 1), perPixel = (view.x1 - view.x0) / (p.right - p.left) / per;
    const from = Math.max(Math.floor(view.x0 / per) - 1, 0), to = Math.min(Math.ceil(view.x1 / per) + 1, list.length);
    const by = Math.max(Math.floor(perPixel), 1);
    ctx.moveTo(toX(view, from * per), curveY(0, top));
    for (let at = from; at < to; at += by) {
      // Of several steps in a pixel, the most.
      let value = 0;
      for (let i = at; i < Math.min(at + by, to); i++) value = Math.max(value, list[i]);
      ctx.lineTo(toX(view, at * per), curveY(value, top));
      ctx.lineTo(toX(view, Math.min(at + by, to) * per), curveY(value, top));
    }
    ctx.lineTo(toX(view, to * per), curveY(0, top));
  };
  path(m.after, view.steps);
  ctx.fillStyle = colours.fill;
  ctx.fill();
  ctx.strokeStyle = colours.curve;
  ctx.lineWidth = 1.4;
  ctx.stroke();
  path(m.before, view.steps);
  ctx.strokeStyle = colours.before;
  ctx.lineWidth = 1.1;
  ctx.stroke();
}

function drawFloor(ctx, { m, colours }, p, top) {
  const floor = m.columns.figures.lower_bound;
  if (floor === null) return;
  const y = curveY(Number(floor), top);
  ctx.strokeStyle = colours.floor;
  ctx.lineWidth = 1.4;
  ctx.setLineDash([6, 4]);
  line(ctx, p.left, y, p.right, y);
  ctx.setLineDash([]);
}

function drawPeak(ctx, { view, m, colours }, p, top) {
  const step = m.columns.figures.peak_step;
  if (step === null || step + 1 < view.x0 || step > view.x1) return;
  const x = toX(view, step + .5), y = curveY(Number(m.columns.figures.peak), top);
  ctx.strokeStyle = colours.peak;
  ctx.lineWidth = 1.2;
  ctx.setLineDash([3, 3]);
  line(ctx, x, y, x, p.bottom);
  ctx.setLineDash([]);
  ctx.fillStyle = colours.peak;
  ctx.beginPath();
  ctx.arc(x, y, 3.6, 0, 2 * Math.PI);
  ctx.fill();
  const text = `peak, step ${grouped(step)}`;
  ctx.font = font(11, 600);
  const width = ctx.measureText(text).width, right = x + 9 + width > p.right;
  halo(ctx, text, right ? x - 9 - width : x + 9, Math.min(y + 12, PAD.top + PAD.curve - 8), colours.peak, colours.plot);
}

/// Text on a ground of its own, so that lines do not cross it.
function halo(ctx, text, x, y, colour, ground) {
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.lineJoin = "round";
  ctx.lineWidth = 4;
  ctx.strokeStyle = ground;
  ctx.strokeText(text, x, y);
  ctx.fillStyle = colour;
  ctx.fillText(text, x, y);
}

function drawCapacity(ctx, { view, m, arena, colours }, p) {
  const place = m.columns.arenas[arena];
  if (!place || place.capacity === null || Number(place.capacity) > view.y1) return;
  const y = toY(view, Number(place.capacity));
  ctx.strokeStyle = colours.peak;
  ctx.lineWidth = 1.5;
  line(ctx, p.left, y, p.right, y);
  ctx.font = font(11, 600);
  halo(ctx, `capacity ${human(place.capacity)}`, p.left + 6, y + 9, colours.peak, colours.plot);
}

/// Selection and hover: the storage, its producers and its readers as bands of steps, and the storages that these touch.
function drawOver(canvas, scene) {
  const { view, m, colours, selected, hover } = scene, ctx = prepare(canvas, view), p = plot(view);
  if (selected) {
    const { storages, makers, readers } = selected;
    clipped(ctx, p.left, PAD.top, p.right, p.bottom, () => {
      bands(ctx, scene, p, makers, colours.floor);
      bands(ctx, scene, p, readers, colours.reader);
      for (const i of selected.near) outline(ctx, scene, i, colours.reader, 1.2, [4, 3]);
      for (const i of storages) outline(ctx, scene, i, colours.select, 2.4, []);
    });
  }
  if (hover >= 0) clipped(ctx, p.left, p.top, p.right, p.bottom, () => outline(ctx, scene, hover, colours.select, 1.6, []));
  if (scene.pointer && scene.pointer.x > p.left && scene.pointer.x < p.right && scene.pointer.y < p.bottom) {
    ctx.strokeStyle = colours.mute;
    ctx.globalAlpha = .5;
    ctx.lineWidth = 1;
    line(ctx, scene.pointer.x, PAD.top, scene.pointer.x, p.bottom);
    ctx.globalAlpha = 1;
  }
}

function bands(ctx, { view }, p, steps, colour) {
  ctx.fillStyle = colour;
  for (const step of steps) {
    const x = toX(view, step), w = Math.max(toX(view, step + 1) - x, 1.5);
    if (x + w < p.left || x > p.right) continue;
    ctx.globalAlpha = .16;
    ctx.fillRect(x, p.top, w, p.bottom - p.top);
    ctx.globalAlpha = 1;
    ctx.fillRect(x, p.top - 6, w, 4);
  }
}

function outline(ctx, scene, i, colour, width, dash) {
  if (scene.m.offset[i] < 0 || scene.m.arena[i] !== scene.arena) return;
  const r = rectOf(scene, i);
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.setLineDash(dash);
  ctx.strokeRect(r.x, r.y, Math.max(r.w, 2), Math.max(r.h, 2));
  ctx.setLineDash([]);
}
