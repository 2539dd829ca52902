// The winners within time bounds, as brlbench.analysis.bounds finds them, to the last bit.

// NumPy's order of summation, so that ties here are ties there.
function sum(values, start, count) {
  if (count < 8) {
    let total = 0;
    for (let i = start; i < start + count; i++) total += values[i];
    return total;
  }
  if (count > 128) {
    const half = Math.floor(count / 16) * 8;
    return sum(values, start, half) + sum(values, start + half, count - half);
  }
  const r = values.slice(start, start + 8);
  const whole = start + count - (count % 8);
  let i = start + 8;
  for (; i < whole; i += 8) for (let k = 0; k < 8; k++) r[k] += values[i + k];
  let total = r[0] + r[1] + (r[2] + r[3]) + (r[4] + r[5] + (r[6] + r[7]));
  for (; i < start + count; i++) total += values[i];
  return total;
}

function pairedZ(first, second) {
  const count = first.length;
  if (count < 2) return 0;
  const difference = first.map((value, k) => value - second[k]);
  const mean = sum(difference, 0, count) / count;
  const largest = difference.reduce((most, d) => Math.max(most, Math.abs(d)), 0);
  const squares = difference.map((d) => (d - mean) * (d - mean));
  const deviation = Math.sqrt(sum(squares, 0, count) / (count - 1));
  // The deviation of a constant is zero up to rounding only.
  if (deviation <= 1e-12 * largest) return mean === 0 ? 0 : mean * Infinity;
  return mean / (deviation / Math.sqrt(count));
}

// The tests of one experiment's candidates against each other, made when they are first asked for.
class PairedTests {
  constructor(experiment, honest) {
    const { candidates, returns, numMdps } = experiment;
    this.known = new Map();
    this.size = experiment.labels.length;
    this.returns = new Map();
    candidates.forEach((agent, row) => {
      const all = returns.subarray(row * numMdps, (row + 1) * numMdps);
      this.returns.set(agent, honest ? all.filter((_, mdp) => mdp % 2 === 1) : all);
    });
  }

  z(first, second) {
    const pair = first * this.size + second;
    let z = this.known.get(pair);
    if (z === undefined) {
      z = pairedZ(this.returns.get(first), this.returns.get(second));
      this.known.set(pair, z);
    }
    return z;
  }
}

class Comparison {
  constructor(experiment, feature, honest, limit, competes) {
    this.offline = experiment.offline;
    this.online = experiment.features[feature];
    this.algorithms = experiment.algorithms;
    this.tests = experiment.tests[Number(honest)];
    this.limit = limit;
    const means = experiment.means[Number(honest)];
    // The best first; of equal ones, the first given.
    this.ranked = experiment.candidates
      .filter((i) => competes(i) && this.offline[i] <= Infinity && this.online[i] <= Infinity)
      .sort((i, k) => means[k] - means[i] || i - k);
  }

  // Agents: the best of each algorithm, the best first, and the winners among them.
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
    return { best, winners: best.filter((i) => this.tests.z(best[0], i) < this.limit) };
  }

  // All answers: cell [row][column] is for bounds from offline[row], online[column] on, and holds
  // the number of its set of winning algorithms, or -1 where no agent is allowed.
  regions() {
    const offline = distinct(this.ranked, this.offline);
    const online = distinct(this.ranked, this.online);
    const width = online.length;
    const [rowOf, columnOf] = [offline, online].map((times) => new Map(times.map((t, k) => [t, k])));
    const none = this.ranked.length;
    const layers = new Map(); // for each algorithm, the rank of its best agent in each cell
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

// What is allowed in a cell is allowed in all above it and to its right.
function spread(layer, width) {
  for (let cell = 0; cell < layer.length; cell++) {
    if (cell % width) layer[cell] = Math.min(layer[cell], layer[cell - 1]);
    if (cell >= width) layer[cell] = Math.min(layer[cell], layer[cell - width]);
  }
}

function distinct(agents, times) {
  return [...new Set(agents.map((i) => times[i]))].sort((a, b) => a - b);
}
