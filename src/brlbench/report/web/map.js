// The map of winners over both bounds: exact rectangles, a letter and stripes for each named set.

const MOST_NAMED = 8; // sets of winners; the others are one grey group
const TOGETHER = 4; // algorithms of a named set at most: more stripes can't be told apart
const SEVERAL = "var(--several)";
const TILE = 9; // pixels, the width of a stripe
// Hatchings of a tile, before it is turned by 45 degrees; in the order of report/styles.py.
const HATCHES = [
  "",
  "M0,4.5h9", // \\
  "M3,4.5a1.5,1.5 0 1,0 3,0a1.5,1.5 0 1,0 -3,0z", // dots
  "M0,4.5h9M4.5,0v9", // x
  "M4.5,0v9", // /
  "M0,9L9,0", // |
  "M2,4.5a2.5,2.5 0 1,0 5,0a2.5,2.5 0 1,0 -5,0z", // rings
  "M0,0L9,9", // -
];

class BoundsMap {
  constructor(svg, legend) {
    Object.assign(this, { svg, legend });
    svg.addEventListener("pointermove", (event) => this.tell(event));
    svg.addEventListener("pointerleave", hideTip);
  }

  // Pointer and keys change the bounds.
  control(offline, online) {
    const { svg } = this;
    Object.assign(this, { offline, online });
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch") return; // it may be the start of scrolling
      svg.setPointerCapture(event.pointerId);
      this.pick(event);
    });
    svg.addEventListener("click", (event) => this.pick(event));
    svg.addEventListener("pointermove", (event) => {
      if (svg.hasPointerCapture(event.pointerId)) this.pick(event);
    });
    svg.addEventListener("keydown", (event) => {
      const bound = /Left|Right/.test(event.key) ? online : offline;
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      bound.step(step);
    });
  }

  draw(view, area) {
    Object.assign(this, { view, area });
    this.x = logScale(view.shown.map((i) => view.online[i]), area.left, area.right);
    this.y = logScale(view.shown.map((i) => view.experiment.offline[i]), area.bottom, area.top);
    const titles = [`bound on ${view.onlineLabel}`, "bound on offline time"];
    frame(this.svg, area, this.x, this.y, ...titles);
    const exact = view.comparison.regions(), regions = grouped(exact, this.x, this.y);
    this.most = Math.max(0, ...exact.sets.map((winners) => winners.length));
    this.sets = rectangles(regions, this.x, this.y);
    const definitions = shape("defs");
    this.svg.append(definitions);
    const fills = algorithms.map((one, k) => paint([one], `algorithm${k}`, definitions));
    this.sets.forEach((set, k) => {
      set.letter = set.isSeveral ? "" : String.fromCharCode(65 + k);
      set.fills = set.isSeveral ? [SEVERAL] : set.algorithms.map((a) => fills[a]);
      const names = set.algorithms.map((a) => algorithms[a].name);
      set.node = shape("path", { class: "region", d: set.path, "data-set": JSON.stringify(names) });
      set.node.style.fill = set.isSeveral ? SEVERAL : paint(set.algorithms.map((a) => algorithms[a]), `set${k}`, definitions);
      this.svg.append(set.node);
    });
    this.svg.append(shape("path", { class: "border", d: borders(regions, this.x, this.y) }));
    this.svg.append(shape("path", { class: "uncertain", d: bands(regions, this.x, this.y, view) }));
    this.svg.append(...this.sets.flatMap(letterOf));
    this.cross = [true, false].map((under) => {
      const name = under ? "cross under" : "cross";
      return ["line", "line", "circle"].map((tag) => shape(tag, { class: name }));
    });
    this.svg.append(...this.cross.flat());
    this.list();
  }

  list() {
    const several = `several${this.most > TOGETHER ? ` (up to ${this.most})` : ""}, or too small for a letter: point at them, or see the table`;
    this.legend.replaceChildren(...this.sets.map((set) => {
      const names = set.algorithms.map((a) => algorithms[a].name).join(", ");
      const text = element("span", {}, set.isSeveral ? several : names);
      set.item = element("li", {}, element("b", {}, set.letter), swatchOf(set.fills), text);
      set.item.addEventListener("pointerenter", () => this.emphasise(set));
      set.item.addEventListener("pointerleave", () => this.emphasise(null));
      return set.item;
    }));
  }

  emphasise(chosen) {
    for (const set of this.sets) set.node.classList.toggle("faint", chosen !== null && set !== chosen);
  }

  update(answer) {
    const x = this.x.at(this.online.seconds), y = this.y.at(this.offline.seconds);
    const { left, right, top, bottom } = this.area;
    for (const [across, up, centre] of this.cross) {
      fill(across, { x1: left, x2: right, y1: y, y2: y }, []);
      fill(up, { x1: x, x2: x, y1: top, y2: bottom }, []);
      fill(centre, { cx: x, cy: y, r: 5 }, []);
    }
    const winners = answer.winners.map((i) => this.view.experiment.algorithms[i]);
    const key = winners.sort((a, b) => a - b).join();
    const now = this.sets.find((set) => set.algorithms.join() === key) ?? this.sets.find(({ isSeveral }) => isSeveral);
    for (const set of this.sets) set.item.classList.toggle("now", set === now && winners.length > 0);
  }

  // The bounds under the pointer.
  under(event) {
    const box = this.svg.getBoundingClientRect();
    return [this.y.back(event.clientY - box.top), this.x.back(event.clientX - box.left)];
  }

  pick(event) {
    const [offline, online] = this.under(event);
    this.offline.setBelow(offline, false);
    this.online.setBelow(online, true);
  }

  tell(event) {
    const [offline, online] = this.under(event);
    const { winners } = this.view.comparison.within(offline, online);
    const names = winners.map((i) => this.view.algorithmOf(i).name).join(", ");
    const where = `offline ≤ ${formatSeconds(offline)}, online ≤ ${formatSeconds(online)}`;
    const who = element("strong", {}, names || "no agent");
    showTip([who, small(where)], event.clientX, event.clientY);
  }
}

// The regions with one group, whose set is empty, in the place of all sets that are not named: those
// of many winners, and those without room for a letter.
function grouped({ sets, cells, ...edges }, x, y) {
  const named = rectangles({ sets, cells, ...edges }, x, y)
    .filter((set) => set.algorithms.length <= TOGETHER && hasRoom(set)).slice(0, MOST_NAMED);
  const groups = sets.map((set) => named.findIndex(({ algorithms: winners }) => winners === set));
  return {
    ...edges,
    sets: [...named.map((set) => set.algorithms), []],
    cells: cells.map((set) => (set < 0 ? set : groups[set] < 0 ? named.length : groups[set])),
  };
}

// Joins equal cells of a row to runs, and equal runs of neighbouring rows to rectangles; one path
// per set, the largest set first and the group last.
function rectangles({ offline, online, cells, sets }, x, y) {
  const regions = sets.map((winners) => ({ algorithms: winners, path: "", area: 0, largest: null }));
  const close = ({ set, start, end, row }, last) => {
    const left = x.at(online[start]), right = end < online.length ? x.at(online[end]) : x.to;
    const bottom = y.at(offline[row]), top = last < offline.length ? y.at(offline[last]) : y.to;
    const size = Math.min(right - left, bottom - top);
    regions[set].path += `M${left},${bottom}H${right}V${top}H${left}z`;
    regions[set].area += (right - left) * (bottom - top);
    if (size > (regions[set].largest?.size ?? 0)) {
      regions[set].largest = { size, x: (left + right) / 2, y: (top + bottom) / 2 };
    }
  };
  let open = new Map();
  for (let row = 0; row <= offline.length; row++) {
    const next = new Map();
    for (let start = 0, end; row < offline.length && start < online.length; start = end) {
      const set = cells[row * online.length + start];
      for (end = start + 1; end < online.length && cells[row * online.length + end] === set; ) end++;
      const key = `${set} ${start} ${end}`;
      if (set >= 0) next.set(key, open.get(key) ?? { set, start, end, row });
      open.delete(key);
    }
    for (const box of open.values()) close(box, row);
    open = next;
  }
  for (const region of regions) region.isSeveral = !region.algorithms.length;
  return regions.filter(({ path }) => path).sort((a, b) => a.isSeveral - b.isSeveral || b.area - a.area);
}

// Lines between cells of different sets.
function borders({ offline, online, cells }, x, y) {
  const xs = [...online.map(x.at), x.to], ys = [...offline.map(y.at), y.to];
  const width = online.length;
  let path = "";
  cells.forEach((set, cell) => {
    const column = cell % width, row = (cell - column) / width;
    if (column && cells[cell - 1] !== set) path += `M${xs[column]},${ys[row]}V${ys[row + 1]}`;
    if (row && cells[cell - width] !== set) path += `M${xs[column]},${ys[row]}H${xs[column + 1]}`;
  });
  return path;
}

// Bands around the borders that an agent's online time makes: the interval of that time.
function bands({ offline, online, cells }, x, y, { shown, interval, online: times }) {
  const ys = [...offline.map(y.at), y.to], width = online.length;
  const reaches = online.map((time) => {
    const ends = shown.filter((i) => times[i] === time).map(interval);
    return [Math.min(...ends.map(([low]) => low)), Math.max(...ends.map(([, high]) => high))];
  });
  return cells.map((set, cell) => {
    const column = cell % width, row = (cell - column) / width;
    const [low, high] = reaches[column], before = column ? cells[cell - 1] : -1;
    return set === before || Number.isNaN(low) ? "" : `M${x.at(low)},${ys[row]}H${x.at(high)}V${ys[row + 1]}H${x.at(low)}z`;
  }).join("");
}

// One algorithm's colour and hatching, or stripes of several.
function paint(winners, id, definitions) {
  if (winners.length === 1 && !winners[0].hatch) return winners[0].color;
  const stripes = winners.flatMap(({ color, hatch }, k) => {
    const stripe = shape("rect", { x: k * TILE, width: TILE, height: TILE });
    stripe.style.fill = color;
    if (!hatch) return [stripe];
    const attributes = { class: hatch === 2 ? "hatch dots" : "hatch", d: HATCHES[hatch] };
    return [stripe, shape("path", { ...attributes, transform: `translate(${k * TILE})` })];
  });
  const size = { width: TILE * winners.length, height: TILE, patternUnits: "userSpaceOnUse" };
  definitions.append(shape("pattern", { id, ...size, patternTransform: "rotate(45)" }, ...stripes));
  return `url(#${id})`;
}

// The fills of a set's algorithms side by side.
function swatchOf(fills) {
  const width = Math.max(10, 22 / fills.length);
  const boxes = fills.map((fill, k) => {
    const box = shape("rect", { x: k * width, width, height: 14 });
    box.style.fill = fill;
    return box;
  });
  return shape("svg", { width: width * fills.length, height: 14, "aria-hidden": true }, ...boxes);
}

const hasRoom = ({ largest }) => largest !== null && largest.size >= 16;

function letterOf({ largest, letter, isSeveral }) {
  return isSeveral ? [] : [shape("text", { class: "letter", x: largest.x, y: largest.y }, letter)];
}
