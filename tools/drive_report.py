#!/usr/bin/env python3
"""Drives the page of `neap plan -o report.html` in headless Chromium and compares what it shows with the summary.

    drive_report.py PAGE.html SUMMARY.json [--svg MAP.svg] [--seconds N] [--screenshot OUT.png [--dark]]

The page is opened from disk with the network off, in light and in dark. One line for each thing that is wrong; the exit code is 1 if there is
one. `--seconds` is the most that opening may take, the best of three. Needs Playwright (PyPI) and Debian's `chromium`; `NEAP_CHROMIUM` names another one.
"""

import argparse
import json
import os
import pathlib
import sys
import time

from playwright.sync_api import sync_playwright

WRONG = []
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def expect(found, wanted, what):
    if found != wanted:
        WRONG.append(f"{what}: {found!r}, not {wanted!r}")


def plain(text):
    """The number that a grouped one shows."""
    return int(text.replace(",", "").replace("\u2212", "-").replace("+", "").replace(" B", ""))


class Driven:
    """A page in a browser context of its own."""

    def __init__(self, browser, path, scheme, width=1500):
        self.context = browser.new_context(viewport={"width": width, "height": 1300}, color_scheme=scheme, offline=True)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20000)
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        start = time.monotonic()
        self.page.goto(path.resolve().as_uri())
        self.page.wait_for_selector("html[data-ready]")
        self.page.evaluate(FRAMES)
        self.seconds = time.monotonic() - start
        expect(self.asked, [path.resolve().as_uri()], "requests")

    def close(self):
        expect(self.said, [], "console")
        self.context.close()

    def text(self, selector):
        return self.page.text_content(selector)

    def view(self):
        """Steps from and to, bytes from and to; and where the map is on the page."""
        self.page.evaluate(FRAMES)
        shown = [float(number) for number in self.page.get_attribute("#stage", "data-view").split()]
        plot = [float(number) for number in self.page.get_attribute("#stage", "data-plot").split()]
        box = self.page.locator("#stage").bounding_box()
        return shown, [plot[0] + box["x"], plot[1] + box["y"], plot[2] + box["x"], plot[3] + box["y"]]

    def at(self, storage):
        """Where the middle of a storage is on the page."""
        (x0, x1, y0, y1), (left, top, right, bottom) = self.view()
        step = (storage["live"][0] + storage["live"][1]) / 2
        at = storage["offset"] + storage["size"] / 2
        return left + (step - x0) / (x1 - x0) * (right - left), bottom - (at - y0) / (y1 - y0) * (bottom - top)

    def rows(self):
        """The texts of the rows that are in the document."""
        return self.page.eval_on_selector_all(
            "#grid tr[data-row]", "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
        )

    def filter(self, text):
        """How many rows a filter leaves."""
        self.page.fill("#filter", text)
        self.page.wait_for_timeout(250)
        return plain(self.text("#count").split(" ")[0])

    def background(self):
        return self.page.evaluate("() => getComputedStyle(document.body).backgroundColor")


def figures(driven, function):
    plan, saved = function["plan"], function["saved"]
    wanted = {"plan.arena": plan["arena"], "plan.peak": plan["peak"], "source.peak": function["source"]["peak"]}
    if plan["order_proof"] != "none":
        wanted["plan.lower_bound"] = plan["lower_bound"]
    names = {"fuse": "fusion", "in_place": "in place"}
    wanted |= {f"saved.{names.get(name, name)}": -value for name, value in saved.items() if value}
    found = driven.page.eval_on_selector_all("[data-figure]", "all => all.map(e => [e.dataset.figure, e.textContent])")
    found = {name: plain(text) for name, text in found if text != "not known"}
    expect(found, wanted, f"figures of @{function['name']}")
    peak = function["peak_step"]
    held = sum(function["storages"][at]["size"] for at in peak["storages"])
    expect(plain(driven.text("#details .who")), held, "bytes held at the peak")


def tables(driven, function):
    storages = function["storages"]
    driven.page.click("#tab-storages")
    expect(driven.page.get_attribute("#grid table", "aria-rowcount"), str(len(storages) + 1), "rows for screen readers")
    labels = driven.page.eval_on_selector_all("#grid th", "all => all.map(th => th.textContent)")
    for at in sorted({0, 1, len(storages) // 3, len(storages) // 2, len(storages) - 1}):
        storage = storages[at]
        expect(driven.filter(f"id={at}"), 1, f"rows of storage {at}")
        row = dict(zip(labels, driven.rows()[0]))
        expect(plain(row["size"]), storage["size"], f"size of storage {at}")
        expect(plain(row["offset"]), storage["offset"], f"offset of storage {at}")
        expect([int(row["first step"]), int(row["end"])], storage["live"], f"steps of storage {at}")
        expect(row["kind"], storage["kind"], f"kind of storage {at}")
    for kind in ["argument", "temporary", "scratch"]:
        expect(driven.filter(f"kind={kind}"), sum(s["kind"] == kind for s in storages), f"rows of kind {kind}")
    limit = sorted(storage["size"] for storage in storages)[len(storages) // 2]
    expect(driven.filter(f"size>{limit}"), sum(s["size"] > limit for s in storages), f"rows above {limit}")
    step = function["peak_step"]["step"]
    expect(driven.filter(f"step={step}"), sum(s["live"][0] <= step < s["live"][1] for s in storages), "rows at the peak")
    expect(driven.filter("no such name anywhere"), 0, "rows of a filter that nothing passes")
    driven.filter("")
    driven.page.click("#grid th button:text-is('size')")
    expect(driven.page.get_attribute("#grid th:has(button:text-is('size'))", "aria-sort"), "descending", "the mark of order")
    size = labels.index("size")
    shown = [plain(row[size]) for row in driven.rows()]
    expect(shown, sorted((s["size"] for s in storages), reverse=True)[: len(shown)], "sizes in order")
    driven.page.click("#tab-ops")
    expect(plain(driven.text("#count").split(" ")[0]), function["ops"], "operations")
    driven.page.click("#tab-storages")


def selection(driven, function, storage):
    """The details are of this storage; it is made at its first step and read last at its last."""
    title = driven.text("#details h2")
    expect(title.split(",")[0], f"Storage {storage['id']}", "the selection")
    parts = driven.page.eval_on_selector_all(
        "#details h3", "all => all.map(h => [h.textContent, [...(h.nextElementSibling || h).querySelectorAll('.n')].map(n => n.textContent)])"
    )
    steps = {name: [plain(text.replace("step ", "")) for text in texts] for name, texts in parts if name in ("Made by", "Read by")}
    if storage["kind"] in ("temporary", "scratch"):
        expect(min(steps["Made by"], default=None), storage["live"][0], f"the producer of storage {storage['id']}")
    made = storage["made"][0].split("@")
    if len(made) == 2:
        expect(int(made[1]) in steps["Made by"], True, f"the producer that the summary names, of storage {storage['id']}")
    if storage["kind"] == "temporary" and len(steps["Read by"]) < 40:
        last = max(steps["Made by"] + steps["Read by"])
        expect(last, storage["live"][1] - 1, f"the last reader of storage {storage['id']}")


def pointer(driven, function):
    storages = [s for s in function["storages"] if s["offset"] is not None and s["arena"] == function["arenas"][0]["name"]]
    shown = sorted(storages, key=lambda s: s["size"] * (s["live"][1] - s["live"][0]))[-3:]
    for storage in shown:
        driven.page.click("#fit")
        driven.page.mouse.move(*driven.at(storage))
        driven.page.wait_for_selector("#tip:not([hidden])")
        expect(f"{storage['size']:,} B" in driven.text("#tip"), True, f"the size of storage {storage['id']} at the pointer")
        driven.page.mouse.click(*driven.at(storage))
        selection(driven, function, storage)
    # A producer in the list is a button that selects the operation.
    maker = driven.page.locator("#details h3:has-text('Made by') + ul button").first
    if maker.count():
        name = maker.text_content()
        maker.click()
        expect(driven.text("#details .who"), name, "the producer, followed")
    driven.page.keyboard.press("Escape")
    driven.page.focus("#stage")
    driven.page.keyboard.press("Escape")
    expect(driven.text("#details h2"), "What the peak holds", "nothing selected")


def zoom(driven, function):
    driven.page.click("#fit")
    (x0, x1, y0, y1), (left, top, right, bottom) = driven.view()
    expect([x0, x1], [0, function["ops"]], "all steps")
    expect([y0, y1], [0, function["arenas"][0]["used"]], "all bytes")
    driven.page.mouse.move((left + right) / 2, (top + bottom) / 2)
    driven.page.keyboard.down("Control")
    for _ in range(4):
        driven.page.mouse.wheel(0, -120)
    driven.page.keyboard.up("Control")
    driven.page.wait_for_timeout(100)
    (u0, u1, v0, v1), _ = driven.view()
    expect(u1 - u0 < (x1 - x0) * 0.6 and v1 - v0 < (y1 - y0) * 0.9 or function["ops"] <= 4, True, "the wheel zooms")
    driven.page.mouse.down()
    driven.page.mouse.move((left + right) / 2 + 120, (top + bottom) / 2, steps=4)
    driven.page.mouse.up()
    (w0, w1, _, _), _ = driven.view()
    expect(abs((w1 - w0) - (u1 - u0)) < 1e-6 and (w0 < u0 or u0 == 0), True, "dragging pans")
    driven.page.click("#to-peak")
    (p0, p1, _, _), _ = driven.view()
    step = function["peak_step"]["step"]
    expect(p0 <= step < p1, True, "the peak is in sight")
    driven.page.click("#fit")
    expect(driven.view()[0], [x0, x1, y0, y1], "everything again")


def keyboard(driven, function):
    storages = function["storages"]
    driven.page.focus("#grid")
    driven.page.keyboard.press("ArrowDown")
    expect(driven.page.locator("#grid tr[aria-selected=true]").count(), 1, "rows selected by the keyboard")
    driven.page.focus("#stage")
    driven.page.keyboard.press("n")
    expect(driven.text("#details h2").startswith("Storage "), True, "a storage selected by the keyboard")
    before = driven.view()[0]
    driven.page.keyboard.press("+")
    after = driven.view()[0]
    expect(after[1] - after[0] < before[1] - before[0] or before[1] - before[0] <= 2, True, "a key zooms")
    driven.page.keyboard.press("0")
    target = max(storages, key=lambda s: s["live"][0])
    driven.page.keyboard.press("/")
    driven.page.keyboard.type(target["names"][0] if target["names"] else target["op"])
    driven.page.wait_for_selector("#found:not([hidden])")
    driven.page.keyboard.press("Enter")
    if target["names"]:
        selection(driven, function, target)
    expect(driven.text("#say") != "", True, "the selection is said to screen readers")


def drive(browser, args, summary, scheme):
    driven = Driven(browser, args.page, scheme)
    dark = scheme == "dark"
    first = driven.background()
    driven.page.click("#theme")
    expect(driven.background() != first, True, f"the switch of themes, from {scheme}")
    driven.page.click("#theme")
    expect(sum(int(n) for n in first[4:-1].split(",")) < 384, dark, f"a {scheme} page")
    largest = max(summary["functions"], key=lambda function: function["plan"]["arena"])
    for at, function in enumerate(summary["functions"]):
        if len(summary["functions"]) > 1:
            driven.page.select_option("#function", str(at))
        figures(driven, function)
    if len(summary["functions"]) > 1:
        driven.page.select_option("#function", str(summary["functions"].index(largest)))
    tables(driven, largest)
    zoom(driven, largest)
    pointer(driven, largest)
    keyboard(driven, largest)
    for at, arena in enumerate(largest["arenas"][1:], 1):
        driven.page.select_option("#arena", str(at))
        expect(driven.view()[0][3], max(arena["used"], 1), f"the bytes of @{arena['name']}")
    driven.close()


def opening(browser, args):
    best = 1e9
    for _ in range(3):
        driven = Driven(browser, args.page, "light")
        best = min(best, driven.seconds)
        driven.close()
    print(f"opens in {best:.2f} s, {args.seconds} s are the most")
    if best > args.seconds:
        WRONG.append(f"opening takes {best:.2f} s, {args.seconds} s are the most")


def svg(browser, path):
    page = browser.new_context(offline=True).new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.resolve().as_uri())
    expect(page.evaluate("() => [document.documentElement.tagName, document.querySelectorAll('parsererror').length]"), ["svg", 0], "the SVG")
    expect(page.locator("rect.s").count() > 0, True, "rectangles of the SVG")
    expect(said, [], "console of the SVG")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("summary", type=pathlib.Path)
    parser.add_argument("--svg", type=pathlib.Path)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--screenshot", type=pathlib.Path)
    parser.add_argument("--dark", action="store_true")
    args = parser.parse_args()
    summary = json.loads(args.summary.read_text())
    with sync_playwright() as playwright:
        chromium = os.environ.get("NEAP_CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        if args.screenshot:
            driven = Driven(browser, args.page, "dark" if args.dark else "light", 1360)
            box = driven.page.locator(".picture").bounding_box()
            size = {"x": 0, "y": 0, "width": 1360, "height": box["y"] + box["height"] + 16}
            driven.page.screenshot(path=args.screenshot, clip=size)
            driven.close()
        elif args.seconds:
            opening(browser, args)
        if not args.screenshot:
            for scheme in ["light", "dark"]:
                drive(browser, args, summary, scheme)
        if args.svg:
            svg(browser, args.svg)
        browser.close()
    for line in WRONG:
        print(line)
    return 1 if WRONG else 0


if __name__ == "__main__":
    sys.exit(main())
