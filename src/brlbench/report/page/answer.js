// The winners within time bounds, as brlbench.analysis.bounds finds them.

// Paired comparisons of the agents that can be the best of their algorithm. Ranks are best first;
// each agent is compared with all below it.
class Pairs {
  constructor({ ranked, widest }, steps, widths, scale) {
    Object.assign(this, { steps, widths, scale, widest });
    this.count = ranked.length;
    this.rank = new Map(ranked.map((agent, rank) => [agent, rank]));
  }

  // The Z statistic.
  z(better, worse) {
    return better === worse ? 0 : this.steps[this.place(better, worse)] / this.scale;
  }

  // The half-width of the 95% interval of the mean difference; NaN for a single MDP.
  width(better, worse) {
    return (this.widths[this.place(better, worse)] ?? NaN) * this.widest;
  }

  place(better, worse) {
    const first = this.rank.get(better), second = this.rank.get(worse);
    return (first * (2 * this.count - first - 1)) / 2 + second - first - 1;
  }
}

class Comparison {
  constructor(experiment, feature, honest, limit, competes) {
    this.offline = experiment.offline;
    this.online = experiment.features[feature];
    this.algorithms = experiment.algorithms;
    const { pairs, ranked } = experiment.measured[Number(honest)];
    this.pairs = pairs;
    this.limit = limit;
    const { offline, online } = this;
    const kept = {}; // by algorithm: agents that no better one dominates
    this.ranked = ranked.filter((i) => {
      const better = (kept[this.algorithms[i]] ??= []);
      const dominated = better.some((k) => offline[k] <= offline[i] && online[k] <= online[i]);
      return competes(i) && !dominated && better.push(i);
    });
  }

  // The best agent of each algorithm, best first, and the winners among them.
  within(offline, online) {
    const best = new Map();
    for (const i of this.ranked) {
      if (this.offline[i] <= offline && this.online[i] <= online && !best.has(this.algorithms[i])) {
        best.set(this.algorithms[i], i);
      }
    }
    return this.answer([...best.values()]);
  }

  answer(best) {
    return { best, winners: best.filter((i) => this.pairs.z(best[0], i) < this.limit) };
  }

  // All answers. A cell holds for bounds from offline[row] and online[column] up to the next ones:
  // the index of its set of winning algorithms, or -1 where no agent is allowed.
  regions() {
    const offline = distinct(this.ranked, this.offline);
    const online = distinct(this.ranked, this.online);
    const width = online.length;
    const [rowOf, columnOf] = [offline, online].map((times) => new Map(times.map((t, k) => [t, k])));
    const none = this.ranked.length;
    const layers = new Map(); // by algorithm: the rank of its best agent in each cell
    this.ranked.forEach((i, rank) => {
      const algorithm = this.algorithms[i];
      if (!layers.has(algorithm)) {
        layers.set(algorithm, new Int32Array(offline.length * width).fill(none));
      }
      const cell = rowOf.get(this.offline[i]) * width + columnOf.get(this.online[i]);
      const layer = layers.get(algorithm);
      layer[cell] = Math.min(layer[cell], rank);
    });
    const ranks = [...layers.values()];
    for (const layer of ranks) spread(layer, width);
    const cells = new Int32Array(offline.length * width);
    const sets = [];
    const numbers = new Map();
    const same = (cell, other) => ranks.every((layer) => layer[cell] === layer[other]);
    for (let cell = 0; cell < cells.length; cell++) {
      if (cell % width && same(cell, cell - 1)) cells[cell] = cells[cell - 1];
      else if (cell >= width && same(cell, cell - width)) cells[cell] = cells[cell - width];
      else {
        const chosen = ranks.map((layer) => layer[cell]).filter((rank) => rank < none);
        const { winners } = this.answer(chosen.sort((a, b) => a - b).map((r) => this.ranked[r]));
        const set = winners.map((i) => this.algorithms[i]).sort((a, b) => a - b);
        const key = set.join();
        if (set.length && !numbers.has(key)) numbers.set(key, sets.push(set) - 1);
        cells[cell] = set.length ? numbers.get(key) : -1;
      }
    }
    return { offline, online, cells, sets };
  }
}

// Agents allowed in a cell are allowed in all cells above it and to its right.
function spread(layer, width) {
  for (let cell = 0; cell < layer.length; cell++) {
    if (cell % width) layer[cell] = Math.min(layer[cell], layer[cell - 1]);
    if (cell >= width) layer[cell] = Math.min(layer[cell], layer[cell - width]);
  }
}

function distinct(agents, times) {
  return [...new Set(agents.map((i) => times[i]))].sort((a, b) => a - b);
}
