// An experiment and its winners within time bounds, as brlbench.analysis.bounds finds them: a test
// compares both on all shipped results.

// The agents that can be the best of their algorithm, ready to be compared within any bounds.
class Comparison {
  constructor(experiment, feature, asInPaper, level, competes) {
    const { ranked, tests, widths, widest, limits, limitOf } = experiment.measured[Number(asInPaper)];
    const { offline, algorithms } = experiment, online = timesOf(experiment, feature);
    Object.assign(this, { offline, online, algorithms, tests, limits: limits[level], limitOf, widths, widest, count: ranked.length });
    this.rank = new Map(ranked.map((agent, rank) => [agent, rank])); // best first
    const undominated = {}; // by algorithm: agents that no better one dominates
    this.ranked = ranked.filter((i) => {
      const better = (undominated[algorithms[i]] ??= []);
      const dominated = better.some((k) => offline[k] <= offline[i] && online[k] <= online[i]);
      return competes(i) && !dominated && better.push(i);
    });
  }

  // The Z statistic of the paired test.
  z(better, worse) {
    return better === worse ? 0 : this.tests[this.place(better, worse)] / content.steps;
  }

  // Whether an agent is significantly worse. Limits depend on the number of MDPs that both played.
  beats(better, worse) {
    const place = this.limitOf === null ? 0 : this.limitOf[this.place(better, worse)];
    return better !== worse && this.z(better, worse) >= this.limits[place];
  }

  // The half-width of the 95% interval of the mean difference; NaN for a single MDP.
  width(better, worse) {
    return (this.widths[this.place(better, worse)] ?? NaN) * this.widest;
  }

  // Each agent is compared with all that rank below it.
  place(better, worse) {
    const first = this.rank.get(better), second = this.rank.get(worse);
    return (first * (2 * this.count - first - 1)) / 2 + second - first - 1;
  }

  // The best agent of each algorithm, best first, and the winners among them.
  within(offline, online) {
    const best = this.bestOf(this.ranked.filter((i) => this.offline[i] <= offline), online);
    return { best, winners: this.winnersOf(best) };
  }

  bestOf(agents, online) {
    const best = new Map(); // by algorithm
    for (const i of agents) {
      if (this.online[i] <= online && !best.has(this.algorithms[i])) best.set(this.algorithms[i], i);
    }
    return [...best.values()];
  }

  winnersOf(best) {
    return best.filter((i) => !this.beats(best[0], i));
  }

  // All answers. A cell holds for bounds from offline[row] and online[column] up to the next ones:
  // the index of its set of winning algorithms, or -1 where no agent is allowed.
  regions() {
    const [offline, online] = [this.offline, this.online].map((times) =>
      [...new Set(this.ranked.map((i) => times[i]))].sort((a, b) => a - b));
    const sets = [], numbers = new Map([["", -1]]), answers = new Map(); // by the best agents
    const cells = offline.flatMap((longest) => {
      const agents = this.ranked.filter((i) => this.offline[i] <= longest);
      return online.map((bound) => {
        const best = this.bestOf(agents, bound), key = best.join();
        if (!answers.has(key)) {
          const set = this.winnersOf(best).map((i) => this.algorithms[i]).sort((a, b) => a - b);
          if (!numbers.has(set.join())) numbers.set(set.join(), sets.push(set) - 1);
          answers.set(key, numbers.get(set.join()));
        }
        return answers.get(key);
      });
    });
    return { offline, online, cells, sets };
  }
}

const featureOf = (experiment, feature) => experiment.features.find(({ key }) => key === feature);
const timesOf = (experiment, feature) => featureOf(experiment, feature).values;

// The 95% interval of the online time of each agent; NaN if it is unknown.
function intervalsOf(experiment, feature) {
  const { intervals } = featureOf(experiment, feature);
  return (i) => (intervals ? intervals.map((ends) => ends[i]) : [NaN, NaN]);
}

// Whether an agent may be on the other side of a bound.
function straddles({ interval }, i, bound) {
  const [low, high] = interval(i);
  return low <= bound && bound <= high;
}

// The view of an experiment that plots and tables show. `hidden` has the numbers of algorithms.
function viewOf(experiment, { feature, asInPaper, level, hidden }) {
  const measured = experiment.measured[Number(asInPaper)];
  const agents = experiment.labels.map((_, i) => i);
  const competes = (i) => !experiment.told.includes(i) && !hidden.has(experiment.algorithms[i]);
  const isOptimal = (i) => experiment.algorithms[i] === content.reference;
  const isReference = (i) => isOptimal(i) || experiment.told.includes(i);
  const references = agents.filter((i) => isReference(i) && !competes(i));
  const { title } = content.features.find(({ key }) => key === feature);
  return {
    experiment,
    measured,
    references,
    shown: agents.filter(competes),
    listed: agents.filter((i) => competes(i) || isReference(i)),
    algorithmOf: (i) => algorithms[experiment.algorithms[i]],
    online: timesOf(experiment, feature),
    interval: intervalsOf(experiment, feature),
    onlineLabel: `online time: ${title}`,
    lines: scoreLines(experiment, references.filter(isOptimal).map((i) => measured.scores[i])),
    score: scoreFormat(measured.scores),
    scoreLabel: `score (${measured.meanReturns ? "adjusted " : ""}mean return)` + (asInPaper ? "" : ` (${counted(measured.numMdps, "MDP")})`),
    comparison: new Comparison(experiment, feature, asInPaper, level, competes),
  };
}

// The classes of each agent within bounds.
function classesWithin({ experiment, online, references }, { best, winners }, longest) {
  const classes = experiment.labels.map((_, i) =>
    experiment.offline[i] <= longest.offline && online[i] <= longest.online ? "" : "out");
  for (const i of best) classes[i] = "best";
  for (const i of winners) classes[i] = "best winner";
  for (const i of references) classes[i] += " reference";
  return classes;
}

const scoreText = ({ measured, score }, i) => `${score(measured.scores[i])} ± ${score(measured.ci95[i])}`;

// The mean return, with its luck, of an agent whose score is adjusted.
const meanReturn = ({ measured: { meanReturns, meanReturnsCi95 }, score }, i) =>
  `${score(meanReturns[i])} ± ${score(meanReturnsCi95[i])}`;

// The full description of an agent, for the tip.
function describe(view, i) {
  const { experiment, measured } = view;
  const rows = [...experiment.parameters[i], ["score", scoreText(view, i)]];
  if (measured.meanReturns) rows.push(["mean return", meanReturn(view, i)]);
  if (measured.normalised) rows.push(["normalised", fixed(3)(measured.normalised[i])]);
  for (const { key, title, unit, values } of experiment.quantities) {
    if (key !== "online") rows.push([title.toLowerCase(), formatOf(unit)(values[i])]);
  }
  for (const { key, values } of experiment.features) {
    const { title } = content.features.find((feature) => feature.key === key);
    rows.push([title, formatSeconds(values[i])]);
  }
  const terms = rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  return [element("strong", {}, view.algorithmOf(i).name), element("dl", {}, ...terms)];
}

// The lines to compare scores with: the bound, and the score of the reference.
function scoreLines({ bound, boundText }, references) {
  const limit = { at: bound, text: `${boundText} (95% limit)`, name: PAST, className: "limit" };
  const lines = bound === null ? [] : [limit];
  if (references.length) lines.push({ at: Math.max(...references), name: "optimal" });
  return lines;
}
