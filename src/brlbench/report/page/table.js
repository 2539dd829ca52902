// The table of all agents, sortable, and the table of the best of each algorithm.

const COLUMNS = [
  { key: "agent", title: "Agent" },
  { key: "score", title: "Score", down: true },
  { key: "interval", title: "± 95%" },
  { key: "z", title: "Z" },
  { key: "unadjusted", title: "Mean return", down: true },
  { key: "unadjustedInterval", title: "± 95%" },
  { key: "normalised", title: "Normalised", down: true, format: formatNormalised },
  { key: "offline", title: "Offline", format: formatSeconds },
  { key: "online", title: "Online", format: formatSeconds },
  { key: "memory", title: "Memory", format: formatMemory },
  { key: "within", title: "In bounds", down: true, format: (within) => (within ? "yes" : "no") },
  { key: "winner", title: "Winner", down: true, format: (winner) => (winner ? "★ winner" : "") },
];

class AgentTable {
  constructor(table, highlight) {
    [this.head, this.body] = [table.tHead, table.tBodies[0]];
    this.sorted = { key: "score", down: true };
    this.highlight = highlight;
  }

  draw(view) {
    this.feature = view.feature;
    this.numMdps = view.measured.numMdps;
    this.bound = view.experiment.bound;
    const { normalised, unadjusted } = view.measured;
    const known = { normalised, unadjusted, unadjustedInterval: unadjusted, memory: view.experiment.memory };
    this.columns = COLUMNS.filter(({ key }) => !(key in known) || known[key])
      .map((column) => ({ format: view.score, ...column }));
    this.head.replaceChildren(element("tr", {}, ...this.columns.map((column) => this.header(column))));
    this.rows = view.listed.map((i) => this.row(view, i));
  }

  row({ experiment, measured, online, algorithms }, i) {
    const algorithm = algorithms[experiment.algorithms[i]];
    const values = {
      agent: experiment.labels[i],
      offline: experiment.offline[i],
      online: online[i],
      memory: experiment.memory?.[i],
      score: measured.scores[i],
      interval: measured.ci95[i],
      unadjusted: measured.unadjusted?.[0][i],
      unadjustedInterval: measured.unadjusted?.[1][i],
      normalised: measured.normalised?.[i],
    };
    const cells = this.columns.map(({ key, format }) => {
      if (key === "agent") return element("td", { class: "name" }, label(algorithm, values.agent));
      return element("td", { class: "number" }, key in values ? format(values[key]) : "");
    });
    const node = element("tr", {}, ...cells);
    node.addEventListener("pointerenter", () => this.highlight(i));
    node.addEventListener("pointerleave", () => this.highlight(null));
    return { agent: i, algorithm, values, node };
  }

  header({ key, title, down = false }) {
    const button = element("button", { type: "button" }, title);
    button.addEventListener("click", () => {
      this.sorted = { key, down: this.sorted.key === key ? !this.sorted.down : down };
      this.arrange();
    });
    const look = key === "agent" ? "name" : "number";
    return element("th", { class: look, scope: "col", "data-key": key }, button);
  }

  // What depends on the bounds; `z` has the statistics of the best agents, in words.
  update(looks, z) {
    const place = Object.fromEntries(this.columns.map(({ key }, k) => [key, k]));
    for (const { agent, values, node } of this.rows) {
      const look = looks[agent];
      values.within = !look.includes("out");
      values.winner = look.includes("winner");
      const text = z.get(agent) ?? "";
      values.z = text === "best" ? -Infinity : parseFloat(text.replace(/[^\d.-]/g, ""));
      const told = `${look} ${text}`;
      if (node.dataset.told === told) continue;
      node.dataset.told = told;
      node.className = look;
      node.cells[place.z].textContent = text;
      node.cells[place.within].textContent = this.columns[place.within].format(values.within);
      const mark = this.columns[place.winner].format(values.winner);
      node.cells[place.winner].textContent = look.includes("reference") ? "reference" : mark;
    }
    this.arrange();
  }

  arrange() {
    const { key, down } = this.sorted;
    const missing = ({ values }) => Number.isNaN(values[key]);
    const compare = ({ values: a }, { values: b }) => {
      if (key === "agent") return a.agent.localeCompare(b.agent, undefined, { numeric: true });
      return a[key] - b[key] || 0;
    };
    const order = (a, b) => (down ? compare(b, a) : compare(a, b)) || a.agent - b.agent;
    this.rows.sort((a, b) => missing(a) - missing(b) || order(a, b));
    const present = [...this.body.rows];
    if (present.length !== this.rows.length || this.rows.some(({ node }, k) => node !== present[k])) {
      this.body.replaceChildren(...this.rows.map(({ node }) => node));
    }
    for (const cell of this.head.rows[0].cells) {
      if (cell.dataset.key === key) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  }

  csv() {
    const titles = ["agent", "algorithm", "offline_seconds", `online_seconds_${this.feature}`, "peak_bytes", "score",
      "ci95", "mdps", "mean_return", "mean_return_ci95", "normalised", "bound", "within_bounds", "winner"];
    const known = (number) => (Number.isNaN(number) ? "" : number ?? "");
    const rows = this.rows.map(({ algorithm, values: v }) => [v.agent, algorithm.name, v.offline, v.online,
      known(v.memory), v.score, known(v.interval), this.numMdps, known(v.unadjusted), known(v.unadjustedInterval), known(v.normalised), this.bound, v.within, v.winner]);
    return csv([titles, ...rows]);
  }
}

// The Z statistics of the best agents, in words.
function zTexts({ comparison, far }, best) {
  return new Map(best.map((i, k) => {
    const z = comparison.pairs.z(best[0], i);
    return [i, k === 0 ? "best" : z < far ? z.toFixed(2).replace("-0.00", "0.00") : `> ${far}`];
  }));
}

function drawBest(table, view, { best, winners }, zText) {
  const { experiment, measured, algorithms, score, online } = view;
  const number = (...content) => element("td", { class: "number" }, ...content);
  const ends = best.map((i) => [-1, 1].map((side) => measured.scores[i] + side * (measured.ci95[i] || 0)));
  const low = Math.min(...ends.flat()), high = Math.max(...ends.flat());
  const x = linearScale(low, high > low ? high : low + 1, 5, 85);
  const note = (i) => element("div", { class: "muted" }, `(${meanReturn(measured, i, score)})`);
  const below = (i) => (measured.unadjusted ? [note(i)] : []);
  const rows = best.map((i, k) => {
    const algorithm = algorithms[experiment.algorithms[i]];
    return element("tr", { class: winners.includes(i) ? "winner" : "" },
      element("td", { class: "name" }, label(algorithm, experiment.labels[i])),
      number(`${score(measured.scores[i])} ± ${score(measured.ci95[i])}`, ...below(i)),
      number(zText.get(i)),
      number(intervalPicture(algorithm, measured.scores[i], ends[k], x)),
      number(formatSeconds(experiment.offline[i])),
      number(formatSeconds(online[i])));
  });
  const titles = ["Agent", "Score ± 95%", "Z", "", "Offline", "Online"];
  const heads = titles.map((title, k) => element("th", { scope: "col", class: k ? "number" : "" }, title));
  table.tHead.replaceChildren(element("tr", {}, ...heads));
  table.tBodies[0].replaceChildren(...rows);
  const limit = experiment.bound === null ? [] : [element("tr", { class: "out" },
    element("td", { class: "name" }, "no agent can pass (bound)"), number(experiment.boundText),
    element("td", { colspan: 4 }))];
  table.tFoot.replaceChildren(...limit);
}

// The score before luck was taken out of it.
function meanReturn({ unadjusted: [means, widths] }, i, score) {
  return `${score(means[i])} ± ${score(widths[i])}`;
}

function intervalPicture(algorithm, score, [low, high], x) {
  return shape("svg", { class: "interval", color: algorithm.color, "aria-hidden": true },
    shape("line", { x1: x.at(low), x2: x.at(high), y1: 9, y2: 9 }),
    shape("path", { d: markerPath(algorithm), transform: `translate(${x.at(score)} 9)` }));
}
