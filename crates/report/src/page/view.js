// Which part of the map is shown: steps and bytes, and how they become pixels. Curve and map share the steps.
const PAD = { left: 88, right: 14, top: 10, gap: 16, bottom: 30, curve: 118 };

function makeView() {
  return { x0: 0, x1: 1, y0: 0, y1: 1, width: 0, height: 0, steps: 1, most: 1 };
}

/// Everything: all steps, all bytes of the arena.
function fitView(view, steps, most) {
  Object.assign(view, { steps, most, x0: 0, x1: steps, y0: 0, y1: most });
}

const plot = view => ({
  left: PAD.left, right: view.width - PAD.right, top: PAD.top + PAD.curve + PAD.gap, bottom: view.height - PAD.bottom,
});

const toX = (view, step) => { const p = plot(view); return p.left + (step - view.x0) / (view.x1 - view.x0) * (p.right - p.left); };
const toY = (view, at) => { const p = plot(view); return p.bottom - (at - view.y0) / (view.y1 - view.y0) * (p.bottom - p.top); };
const fromX = (view, x) => { const p = plot(view); return view.x0 + (x - p.left) / (p.right - p.left) * (view.x1 - view.x0); };
const fromY = (view, y) => { const p = plot(view); return view.y0 + (p.bottom - y) / (p.bottom - p.top) * (view.y1 - view.y0); };

/// Keeps a range inside [0, most], no narrower than `least`.
function clamp(from, to, most, least) {
  const width = Math.min(Math.max(to - from, least), most);
  const middle = (from + to) / 2;
  const start = Math.min(Math.max(middle - width / 2, 0), most - width);
  return [start, start + width];
}

function setView(view, x0, x1, y0, y1) {
  [view.x0, view.x1] = clamp(x0, x1, view.steps, Math.min(2, view.steps));
  [view.y0, view.y1] = clamp(y0, y1, view.most, Math.min(64, view.most));
}

/// Zooms around a place of the canvas; above the map, in the curve, only the steps. Plans are longer than high: bytes follow more slowly.
function zoomView(view, factor, x, y, only) {
  const sx = fromX(view, x), sy = fromY(view, y), inMap = y >= plot(view).top;
  const fx = only === "y" ? 1 : factor, fy = only === "y" ? factor : only === "x" || !inMap ? 1 : factor ** .4;
  setView(view, sx - (sx - view.x0) * fx, sx + (view.x1 - sx) * fx, sy - (sy - view.y0) * fy, sy + (view.y1 - sy) * fy);
}

function panView(view, dx, dy) {
  const p = plot(view);
  const sx = dx / (p.right - p.left) * (view.x1 - view.x0), sy = dy / (p.bottom - p.top) * (view.y1 - view.y0);
  setView(view, view.x0 - sx, view.x1 - sx, view.y0 + sy, view.y1 + sy);
}

/// Round numbers in a range, about so many; sizes in powers of two.
function ticks(from, to, count, binary) {
  const raw = Math.max((to - from) / count, 1);
  let step;
  if (binary) step = 2 ** Math.ceil(Math.log2(raw));
  else {
    const magnitude = 10 ** Math.floor(Math.log10(raw));
    step = [1, 2, 5, 10].map(by => by * magnitude).find(by => by >= raw);
  }
  const list = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) list.push(at);
  return list;
}
