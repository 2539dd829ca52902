// Elements, scales, axes, markers and the tip that follows the pointer.

const SVG = document.querySelector("svg").namespaceURI;
const MARKERS = {
  o: "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
  s: "M-3.5,-3.5h7v7h-7z",
  "^": "M0,-4.6L4.4,3.4H-4.4z",
  "<": "M-4.6,0L3.4,-4.4V4.4z",
  D: "M0,-5L5,0L0,5L-5,0z",
  v: "M0,4.6L4.4,-3.4H-4.4z",
  P: "M-1.6,-4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z",
  X: "M-4.6,-2.3L-2.3,-4.6L0,-2.3L2.3,-4.6L4.6,-2.3L2.3,0L4.6,2.3L2.3,4.6L0,2.3L-2.3,4.6L-4.6,2.3L-2.3,0z",
  "*": "M0,-5.5L1.5,-1.8L5.3,-1.7L2.3,0.7L3.3,4.5L0,2.3L-3.3,4.5L-2.3,0.7L-5.3,-1.7L-1.5,-1.8z",
};
const MARGIN = 12; // to the right of a plot's area, in pixels
const TICK_GAP = 6; // between the labels of ticks
const markerPath = (algorithm) => MARKERS[algorithm.marker];

// Texts become text nodes, never markup.
function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function shape(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, { color, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (color) node.style.color = color; // the security policy forbids style attributes
  node.append(...children);
  return node;
}

// Gives each algorithm its colour, which follows the theme.
function colourAlgorithms(algorithms) {
  const { style } = document.documentElement;
  algorithms.forEach((algorithm, k) => {
    style.setProperty(`--algorithm-${k}`, `light-dark(${algorithm.light}, ${algorithm.dark})`);
    algorithm.color = `var(--algorithm-${k})`;
  });
}

function mark(algorithm) {
  const path = shape("path", { d: markerPath(algorithm) });
  const attributes = { class: "mark", viewBox: "-6 -6 12 12", "aria-hidden": true };
  return shape("svg", { ...attributes, color: algorithm.color }, path);
}

// Long names break after brackets, commas and signs, and never in a number.
const breakable = (text) => text.split(/(?<=[(,=:/+*_])/).flatMap((part) => [part, element("wbr")]);

function labelOf(algorithm, text) {
  return element("span", { class: "label" }, mark(algorithm), element("span", {}, ...breakable(text)));
}

// Zero, which has no logarithm, lies at the start of the scale; no bound lies at its end.
function logScale(times, from, to) {
  const logs = [...times].filter((t) => t > 0 && t < Infinity).map(Math.log10);
  let low = Math.min(...logs), high = Math.max(...logs);
  if (!logs.length) [low, high] = [-3, 0];
  const margin = Math.max(0.07 * (high - low), 0.15);
  [low, high] = [low - margin, high + margin];
  const at = (t) => {
    const part = t <= 0 ? 0 : t === Infinity ? 1 : (Math.log10(t) - low) / (high - low);
    return from + Math.min(1, Math.max(0, part)) * (to - from);
  };
  const back = (place) => 10 ** (low + ((place - from) / (to - from)) * (high - low));
  const ticks = (most) => timeTicks(10 ** low, 10 ** high, most).map((t) => [at(t), formatSeconds(t)]);
  return { at, back, from, to, ticks, isLog: true };
}

function timeTicks(low, high, most) {
  const units = [1e-9, 1e-6, 1e-3, 1, 60, 3600];
  const parts = (steps) => units.slice(0, 3).flatMap((u) => [1, 10, 100].flatMap((d) => steps.map((s) => u * d * s)));
  const minutes = (steps) => [...steps.map((s) => 60 * s), ...steps.map((s) => 3600 * s)];
  const choices = [
    [...parts([1, 2, 5]), 1, 2, 5, 10, 20, 30, ...minutes([1, 2, 5, 10, 20, 30])],
    [...parts([1, 5]), 1, 5, 10, 30, ...minutes([1, 5, 10, 30])],
    [...parts([1]), 1, 10, ...minutes([1, 10])],
    units,
  ].map((ticks) => ticks.filter((t) => t >= low && t <= high));
  return choices.find((ticks) => ticks.length <= most) ?? choices.at(-1);
}

function linearScale(low, high, from, to) {
  const at = (value) => from + ((value - low) / (high - low)) * (to - from);
  const ticks = (most) => {
    const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find((s) => s * power >= rough) * power;
    const first = Math.ceil(low / step), count = Math.floor(high / step) - first + 1;
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const values = Array.from({ length: count }, (_, k) => (first + k) * step);
    const largest = Math.max(Math.abs(low), Math.abs(high));
    const write = largest >= 1e5 || digits > 4
      ? (value) => (value === 0 ? "0" : value.toExponential(Math.max(0, Math.ceil(Math.log10(largest / step)) - 1)))
      : (value) => value.toFixed(digits);
    return values.map((value) => [at(value), write(value)]);
  };
  return { at, from, to, ticks };
}

const pen = document.createElement("canvas").getContext("2d");

function textWidth(svg, text) {
  pen.font = `12px ${getComputedStyle(svg).fontFamily}`;
  return pen.measureText(text).width;
}

// The most ticks whose labels keep apart. A label takes a length along the axis, around its place
// and within the limits.
function ticksApart(scale, most, lengthOf, [least, greatest]) {
  const spread = (ticks) => ticks.map(([place, label]) => {
    const half = lengthOf(label) / 2;
    const middle = Math.min(greatest - half, Math.max(least + half, place));
    return { place, label, middle, from: middle - half, to: middle + half };
  }).sort((a, b) => a.middle - b.middle);
  const apart = (a, b) => b.from - a.to >= TICK_GAP;
  for (let number = Math.max(4, Math.floor(most)); number > 2; number--) {
    const ticks = spread(scale.ticks(number));
    if (ticks.every((tick, k) => k === 0 || apart(ticks[k - 1], tick))) return ticks;
  }
  return spread(scale.ticks(2)).reduce(
    (kept, tick) => (kept.length && !apart(kept.at(-1), tick) ? kept : [...kept, tick]), []);
}

// Draws axes with ticks around a plot's area; clears what was drawn before.
function frame(svg, area, x, y, xLabel, yLabel) {
  const { left, right, top, bottom } = area;
  const parts = [];
  const edges = [0, right + MARGIN];
  for (const tick of ticksApart(x, (right - left) / 62, (text) => textWidth(svg, text), edges)) {
    parts.push(shape("line", { class: "grid", x1: tick.place, x2: tick.place, y1: top, y2: bottom }));
    const at = { class: "tick", x: tick.middle, y: bottom + 19, "text-anchor": "middle" };
    parts.push(shape("text", at, tick.label));
  }
  for (const tick of ticksApart(y, (bottom - top) / 34, () => 14, [top - 8, bottom + 7])) {
    parts.push(shape("line", { class: "grid", x1: left, x2: right, y1: tick.place, y2: tick.place }));
    const at = { class: "tick", x: left - 6, y: tick.middle + 4, "text-anchor": "end" };
    parts.push(shape("text", at, tick.label));
  }
  parts.push(shape("rect", { class: "frame", x: left, y: top, width: right - left, height: bottom - top }));
  const middle = (left + right) / 2, room = 2 * (right + MARGIN - middle);
  const titles = [...(x.isLog ? [`${xLabel} (log scale)`] : []), xLabel, xLabel.split(": ").at(-1)];
  const title = titles.find((text) => textWidth(svg, text) <= room) ?? titles.at(-1);
  parts.push(shape("text", { x: middle, y: bottom + 37, "text-anchor": "middle" }, title));
  const turned = `translate(12 ${(top + bottom) / 2}) rotate(-90)`;
  parts.push(shape("text", { transform: turned, "text-anchor": "middle" }, yLabel));
  svg.replaceChildren(...parts);
}

// The area of a plot. The view box lets a printed page scale what was drawn for the screen.
function areaOf(svg) {
  const { width, height } = svg.getBoundingClientRect();
  if (width) svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return { left: 72, right: Math.max(width - MARGIN, 120), top: 10, bottom: height - 45 };
}

function showTip(nodes, x, y) {
  const tip = document.getElementById("tip");
  tip.replaceChildren(...nodes);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 16 + width > innerWidth ? x - 16 - width : x + 16;
  const top = y + 16 + height > innerHeight ? y - 16 - height : y + 16;
  tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}
