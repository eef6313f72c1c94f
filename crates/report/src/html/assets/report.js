// Zoom and pan of timelines, and the choice of light or dark. The page reads without any of it.
"use strict";

(function theme() {
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
})();

function timeText(ns, step) {
  const [unit, scale] = step >= 1e5 ? ["ms", 1e6] : step >= 100 ? ["\u00b5s", 1e3] : ["ns", 1];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9));
  return (ns / scale).toFixed(digits) + " " + unit;
}

function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((factor) => factor * power >= rough) * power;
}

document.querySelectorAll(".timeline").forEach((figure) => {
  const cycle = Number(figure.dataset.cycle);
  const view = figure.querySelector(".tl-view");
  const svg = view.querySelector("svg");
  const axis = view.querySelector(".tl-axis");
  const labels = view.querySelector(".tl-labels");
  const read = figure.querySelector(".tl-read");
  const height = Number(svg.getAttribute("viewBox").split(" ")[3]);
  const bars = [...svg.querySelectorAll("rect:not(.stripe)")].map((rect) => ({
    start: Number(rect.getAttribute("x")),
    span: Number(rect.getAttribute("width")),
    top: Math.floor(Number(rect.getAttribute("y")) / 30) * 30,
    text: rect.textContent,
  }));
  let start = 0, span = cycle, queued = false;

  function draw() {
    queued = false;
    svg.setAttribute("viewBox", `${start} 0 ${span} ${height}`);
    const width = view.clientWidth, scale = width / span;
    const step = roundStep(span / Math.max(2, Math.floor(width / 90)));
    axis.textContent = "";
    for (let at = Math.ceil(start / step) * step; at <= start + span; at += step) {
      const tick = document.createElement("span");
      const x = (at - start) * scale;
      tick.textContent = timeText(at, step);
      tick.style.cssText = `left:${x}px;visibility:visible;padding:0;transform:translateX(${x < 24 ? 0 : x > width - 30 ? -100 : -50}%)`;
      axis.append(tick);
    }
    labels.textContent = "";
    let room = 300;
    for (const bar of bars) {
      const left = Math.max(0, (bar.start - start) * scale);
      const right = Math.min(width, (bar.start + bar.span - start) * scale);
      if (right - left < 30 || --room < 0) continue;
      const label = document.createElement("span");
      label.textContent = bar.text;
      label.style.cssText = `left:${left}px;width:${right - left}px;top:${bar.top}px`;
      labels.append(label);
    }
  }
  function show(from, length) {
    span = Math.min(cycle, Math.max(100, length));
    start = Math.min(cycle - span, Math.max(0, from));
    if (!queued) { queued = true; requestAnimationFrame(draw); }
  }
  function zoom(factor, at) {
    const share = at === undefined ? 0.5 : at / view.clientWidth;
    show(start + span * share * (1 - 1 / factor), span / factor);
  }
  const actions = {
    in: () => zoom(2), out: () => zoom(0.5), left: () => show(start - span / 4, span),
    right: () => show(start + span / 4, span), all: () => show(0, cycle),
  };
  figure.querySelectorAll("[data-do]").forEach((button) => button.addEventListener("click", actions[button.dataset.do]));
  const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all" };
  view.addEventListener("keydown", (event) => {
    const action = actions[keys[event.key]];
    if (action && !event.ctrlKey && !event.metaKey) { event.preventDefault(); action(); }
  });
  view.addEventListener("wheel", (event) => {
    // Without a key the page scrolls as everywhere else, unless the timeline was chosen.
    if (!event.ctrlKey && !event.shiftKey && document.activeElement !== view) return;
    event.preventDefault();
    const delta = event.deltaY || event.deltaX;
    zoom(delta < 0 ? 1.25 : 0.8, event.clientX - view.getBoundingClientRect().left);
  }, { passive: false });
  view.addEventListener("dblclick", (event) => zoom(4, event.clientX - view.getBoundingClientRect().left));

  const fingers = new Map();
  view.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, event.clientX);
    view.setPointerCapture(event.pointerId);
    view.classList.add("dragging");
  });
  view.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (before === undefined) return;
    if (fingers.size === 1) {
      show(start - (event.clientX - before) * span / view.clientWidth, span);
    } else if (fingers.size === 2) {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, x]) => x);
      const was = Math.abs(before - other), is = Math.abs(event.clientX - other);
      if (was > 8 && is > 8) zoom(is / was, (event.clientX + other) / 2 - view.getBoundingClientRect().left);
    }
    fingers.set(event.pointerId, event.clientX);
  });
  const lift = (event) => { fingers.delete(event.pointerId); if (!fingers.size) view.classList.remove("dragging"); };
  ["pointerup", "pointercancel"].forEach((name) => view.addEventListener(name, lift));
  const tell = (event) => {
    // While captured, events name the view: look up what lies under the pointer.
    const rect = document.elementFromPoint(event.clientX, event.clientY);
    if (rect && rect.matches("rect:not(.stripe)") && svg.contains(rect)) {
      const from = Number(rect.getAttribute("x")), length = Number(rect.getAttribute("width"));
      read.textContent = `${rect.textContent}: ${(from / 1000).toFixed(3)} to ${((from + length) / 1000).toFixed(3)} \u00b5s`
        + ` (${(length / 1000).toFixed(3)} \u00b5s)`;
    }
  };
  view.addEventListener("pointermove", tell);
  view.addEventListener("pointerup", tell);
  figure.querySelector(".tl-bar").hidden = false;
  addEventListener("resize", () => show(start, span));
  show(0, cycle);
});
