// How far each of the best agents is behind the first of them, on the same MDPs.

function drawDifferences(table, view, { best }) {
  const { experiment, algorithms, score, pairs, measured } = view;
  const [first, ...others] = best;
  const width = Math.min(460, Math.max(110, 0.42 * table.parentElement.clientWidth - 20));
  const rows = others.map((i) => {
    const mean = measured.scores[i] - measured.scores[first], half = pairs.width(first, i);
    return { i, mean, half, ends: [-1, 1].map((side) => mean + side * (half || 0)) };
  });
  const ends = [0, ...rows.flatMap((row) => row.ends)];
  const low = Math.min(...ends), high = Math.max(...ends);
  const x = linearScale(low, high > low ? high : low + 1, 12, width - 12);
  const number = (...content) => element("td", { class: "number" }, ...content);
  const zero = (height) => shape("line", { class: "zero", x1: x.at(0), x2: x.at(0), y1: 0, y2: height });
  const picture = (height, ...parts) =>
    shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": true }, ...parts);
  const listed = rows.map(({ i, mean, half, ends: [from, to] }) => {
    const algorithm = algorithms[experiment.algorithms[i]];
    const interval = shape("g", { class: "interval", color: algorithm.color },
      shape("line", { x1: x.at(from), x2: x.at(to), y1: 10, y2: 10 }),
      shape("path", { d: markerPath(algorithm), transform: `translate(${x.at(mean)} 10)` }));
    return element("tr", {},
      element("td", { class: "name" }, label(algorithm, experiment.labels[i])),
      number(`${signed(score(mean))} ± ${score(half)}`),
      number(picture(20, zero(20), interval)));
  });
  if (rows.length) {
    const ticks = ticksApart(x, width / 62, (text) => textWidth(table, text), [0, width]);
    const texts = ticks.map((tick) =>
      shape("text", { class: "tick", x: tick.middle, y: 18, "text-anchor": "middle" }, tick.label));
    const marks = ticks.map((tick) =>
      shape("line", { class: "zero", x1: tick.place, x2: tick.place, y1: 0, y2: 4 }));
    listed.push(element("tr", { class: "axis" }, element("td"), element("td"),
      number(picture(24, ...marks, ...texts))));
  }
  const heads = ["Agent", "Difference ± 95%", ""].map((title, k) =>
    element("th", { scope: "col", class: k ? "number" : "" }, title));
  table.tHead.replaceChildren(element("tr", {}, ...heads));
  table.tBodies[0].replaceChildren(...listed);
}

const signed = (text) => (/^-?0*\.?0*$/.test(text) ? text.replace("-", "") : text.replace("-", "−"));
