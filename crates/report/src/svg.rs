//! The memory map of every arena as an SVG: steps across, bytes up, one rectangle per storage, and above it the bytes held at each step.
//!
//! For documents: readable without a script, in light and dark, with what a rectangle holds as its title.

use crate::{Arena, Function, Kind, Picture, Storage};
use svg::Document;
use svg::node::element::{Group, Line, Path, Rectangle, Style, Text, Title};

const WIDTH: f64 = 1200.0;
/// Room for the numbers at the left.
const LEFT: f64 = 86.0;
const RIGHT: f64 = 18.0;
const CURVE: f64 = 110.0;
const MAP: f64 = 420.0;
/// Room above an arena for its title.
const HEAD: f64 = 58.0;
/// Room below it for the steps.
const FOOT: f64 = 56.0;
const PANEL: f64 = HEAD + CURVE + 14.0 + MAP + FOOT;

/// Colours that people with any kind of colour vision tell apart (Okabe and Ito), on light and on dark.
const STYLE: &str = "
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .t { font-size: 15px; font-weight: 600 } .m { fill: #57606a } .e { text-anchor: end } .c { text-anchor: middle }
  .bg { fill: #fff } .frame { fill: #f6f8fa; stroke: #d0d7de } .grid { stroke: #d0d7de; stroke-width: .6 }
  .argument { fill: #cc79a7 } .result { fill: #009e73 } .temporary { fill: #56b4e9 } .scratch { fill: #e69f00 }
  .s { stroke: #fff; stroke-width: .5 } .after { fill: #56b4e9; fill-opacity: .35; stroke: #0072b2 }
  .before { fill: none; stroke: #8c959f } .floor { stroke: #009e73; stroke-dasharray: 6 4 } .peak { stroke: #d55e00; stroke-dasharray: 3 3 }
  .p { fill: #d55e00; paint-order: stroke; stroke: #f6f8fa; stroke-width: 3px } .v1 { fill-opacity: .86 } .v2 { fill-opacity: .72 } .v3 { fill-opacity: .6 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .m { fill: #9198a1 } .bg { fill: #0d1117 } .frame { fill: #151b23; stroke: #3d444d } .grid { stroke: #3d444d }
    .s { stroke: #0d1117 } .after { stroke: #56b4e9 } .p { fill: #ff8a4c; stroke: #151b23 } .peak { stroke: #ff8a4c }
  }
";

/// The picture as text.
pub fn map(picture: &Picture) -> String {
    let panels: Vec<(&Function, usize)> = picture
        .functions
        .iter()
        .flat_map(|function| (0..function.arenas.len()).map(move |arena| (function, arena)))
        .collect();
    let height = PANEL * panels.len().max(1) as f64;
    let mut document = Document::new()
        .set("viewBox", (0, 0, WIDTH as u32, height as u32))
        .set("width", WIDTH)
        .set("height", height)
        .set("role", "img")
        .add(Title::new(format!("Memory map of {}", clean(&picture.input))))
        .add(Style::new(STYLE))
        .add(Rectangle::new().set("class", "bg").set("width", WIDTH).set("height", height));
    if panels.is_empty() {
        document = document.add(text("no function with an arena", LEFT, HEAD, "m"));
    }
    for (at, (function, arena)) in panels.into_iter().enumerate() {
        let moved = format!("translate(0 {})", PANEL * at as f64);
        document = document.add(panel(picture, function, arena).set("transform", moved));
    }
    format!("{document}\n")
}

/// Where steps and bytes are drawn.
struct Scale {
    steps: f64,
    bytes: f64,
    top: f64,
    height: f64,
}

impl Scale {
    fn x(&self, step: f64) -> f64 {
        LEFT + step / self.steps * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, bytes: f64) -> f64 {
        self.top + self.height * (1.0 - bytes / self.bytes)
    }
}

fn panel(picture: &Picture, function: &Function, arena: usize) -> Group {
    let steps = (function.graph.ops.len().max(1)) as f64;
    let figures = &function.figures;
    let place = &function.arenas[arena];
    let most = figures.source_peak.max(figures.peak).max(1) as f64;
    let curve = Scale { steps, bytes: most * 1.05, top: HEAD, height: CURVE };
    let top = HEAD + CURVE + 14.0;
    let map = Scale { steps, bytes: place.used.max(1) as f64, top, height: MAP };
    let mut group = Group::new();
    for line in heading(picture, function, place) {
        group = group.add(line);
    }
    for scale in [&curve, &map] {
        let frame = Rectangle::new().set("class", "frame").set("x", LEFT).set("y", round(scale.top));
        group = group.add(frame.set("width", WIDTH - LEFT - RIGHT).set("height", scale.height));
        for tick in ticks(scale.bytes, if scale.height > CURVE { 6.0 } else { 3.0 }, true) {
            let y = scale.y(tick);
            group = group.add(line("grid", (LEFT, y), (WIDTH - RIGHT, y)));
            group = group.add(text(&size(tick as u64), LEFT - 8.0, y + 4.0, "m e"));
        }
    }
    group = group.add(area(&curve, &function.graph.after, steps, "after", true));
    group = group.add(area(&curve, &function.graph.before, function.graph.before.len().max(1) as f64, "before", false));
    if let Some(bound) = figures.lower_bound {
        let y = curve.y(bound as f64);
        group = group.add(line("floor", (LEFT, y), (WIDTH - RIGHT, y)));
    }
    for rectangle in rectangles(function, arena, &map) {
        group = group.add(rectangle);
    }
    for tick in ticks(steps, 8.0, false) {
        group = group.add(text(&format!("{tick}"), map.x(tick), top + MAP + 18.0, "m c"));
    }
    if let Some(step) = figures.peak_step {
        let x = map.x(f64::from(step) + 0.5);
        group = group.add(line("peak", (x, HEAD), (x, top + MAP)));
        let said = format!("peak: {} at step {step}, {}", size(figures.peak), clean(&figures.peak_op));
        let class = if x > WIDTH / 2.0 { "p e" } else { "p" };
        group = group.add(text(&said, if x > WIDTH / 2.0 { x - 6.0 } else { x + 6.0 }, HEAD + 14.0, class));
    }
    legend(group, top + MAP + 40.0)
}

fn heading(picture: &Picture, function: &Function, arena: &Arena) -> [Text; 2] {
    let figures = &function.figures;
    let title = format!("@{} in @{}: {} B", clean(&function.name), clean(&arena.name), grouped(arena.used));
    let floor = figures.lower_bound.map_or(String::new(), |bound| format!(", floor {} B", grouped(bound)));
    let before = if figures.source_is_plan { "nothing shared" } else { "as given" };
    let given = format!("{}: {before} {} B{floor}", clean(&picture.input), grouped(figures.source_peak));
    [text(&title, LEFT, 24.0, "t"), text(&given, LEFT, 44.0, "m")]
}

fn legend(mut group: Group, y: f64) -> Group {
    let mut x = LEFT;
    for kind in [Kind::Temporary, Kind::Argument, Kind::Result, Kind::Scratch] {
        let swatch = Rectangle::new().set("class", kind.name()).set("x", x).set("y", y - 10.0);
        group =
            group.add(swatch.set("width", 12).set("height", 12).set("rx", 2)).add(text(kind.name(), x + 18.0, y, "m"));
        x += 110.0;
    }
    for (class, what) in [("floor", "floor"), ("before", "before planning"), ("peak", "peak step")] {
        group = group.add(line(class, (x, y - 4.0), (x + 24.0, y - 4.0))).add(text(what, x + 30.0, y, "m"));
        x += 60.0 + 7.0 * what.len() as f64;
    }
    group
}

fn rectangles(function: &Function, arena: usize, scale: &Scale) -> Vec<Rectangle> {
    let values = function.values_of();
    let inside = |storage: &Storage| storage.arena as usize == arena && storage.kind != Kind::State;
    let list = function.storages.iter().enumerate().filter(|(_, storage)| inside(storage));
    list.filter_map(|(at, storage)| {
        let offset = storage.offset? as f64;
        let (x, right) = (scale.x(storage.live[0].into()), scale.x(storage.live[1].into()));
        let (y, bottom) = (scale.y(offset + storage.size as f64), scale.y(offset));
        let name = function.storage_name(at, &values[at]);
        let title = format!(
            "{}: {} B at {}, steps {} to {}",
            clean(&name),
            grouped(storage.size),
            grouped(storage.offset?),
            storage.live[0],
            storage.live[1]
        );
        let rectangle = Rectangle::new().set("class", format!("s {} v{}", storage.kind.name(), at % 4));
        let rectangle = rectangle.set("x", round(x)).set("y", round(y)).set("width", round((right - x).max(0.2)));
        Some(rectangle.set("height", round((bottom - y).max(0.2))).add(Title::new(title)))
    })
    .collect()
}

/// A curve of steps, which fill the width.
fn area(scale: &Scale, bytes: &[u64], steps: f64, class: &str, closed: bool) -> Path {
    let wide = Scale { steps, ..*scale };
    let mut data = format!("M{} {}", round(wide.x(0.0)), round(wide.y(0.0)));
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..].iter().take_while(|other| **other == bytes[at]).count();
        let (y, right) = (round(wide.y(bytes[at] as f64)), round(wide.x((at + run) as f64)));
        data += &format!("V{y}H{right}");
        at += run;
    }
    data += &format!("V{}", round(wide.y(0.0)));
    Path::new().set("class", class).set("d", if closed { data + "Z" } else { data })
}

fn line(class: &str, from: (f64, f64), to: (f64, f64)) -> Line {
    let line = Line::new().set("class", class).set("x1", round(from.0)).set("y1", round(from.1));
    line.set("x2", round(to.0)).set("y2", round(to.1))
}

fn text(content: &str, x: f64, y: f64, class: &str) -> Text {
    Text::new(content).set("x", round(x)).set("y", round(y)).set("class", class)
}

/// Round numbers up to `end`, about so many; of bytes, powers of two and their multiples.
fn ticks(end: f64, count: f64, bytes: bool) -> Vec<f64> {
    let raw = (end / count).max(1.0);
    if bytes {
        let step = raw.log2().ceil().exp2();
        return (0..=(end / step) as u32).map(|at| f64::from(at) * step).collect();
    }
    let magnitude = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].iter().map(|by| by * magnitude).find(|step| *step >= raw).unwrap_or(raw);
    (0..=(end / step) as u32).map(|at| f64::from(at) * step).collect()
}

/// Two digits behind the point: a hundredth of a pixel.
fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Characters that XML allows, `clean` of the others.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn grouped(bytes: u64) -> String {
    let digits = bytes.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..=0x3ff => return format!("{bytes} B"),
        0x400..=0xf_ffff => (1u64 << 10, "KiB"),
        0x10_0000..=0x3fff_ffff => (1 << 20, "MiB"),
        _ => (1 << 30, "GiB"),
    };
    let value = bytes as f64 / unit as f64;
    format!("{value:.*} {name}", if value < 10.0 { 2 } else { usize::from(value < 100.0) })
}
