// The report's page: the controls, the state they set, and what is drawn from it.

const NO_DECISIONS = "There are none: they need results with single decisions, and not compact files or totals.";
const LEAST_WITH_PICTURES = 560; // pixels of the table of best agents, to have pictures of intervals
const state = { experiment: content.experiments[0], feature: content.feature }; // the rest is in the address
const problems = [...new Set(content.experiments.map(({ problem }) => problem))];
const bounds = { offline: new Bound(find("offline"), update), online: new Bound(find("online"), update) };
const map = new BoundsMap(find("map"), find("legend"));
map.control(bounds.offline, bounds.online);
const offlinePlot = new Scatter(find("offline-plot"));
const onlinePlot = new Scatter(find("online-plot"));
const soFarPlot = new LearningPlot(find("so-far-plot"), "discounted reward so far");
const regretPlot = new LearningPlot(find("regret-plot"), "regret: optimal minus agent");
const agentTable = new Table(find("agents"), { key: "score", down: true });
const bestTable = new Table(find("best")), differencesTable = new Table(find("differences"));
let view, learningAreas, toWrite;

const featureText = (feature) => content.features.find(({ key }) => key === feature);
const longest = () => ({ offline: bounds.offline.seconds, online: bounds.online.seconds });

// Redraws everything; called when anything but the bounds changes.
function choose() {
  view = viewOf(state.experiment, state);
  const { experiment, shown } = view;
  bounds.offline.setTimes(shown.map((i) => experiment.offline[i]));
  bounds.online.setTimes(shown.map((i) => view.online[i]));
  find("own-note").hidden = !experiment.algorithms.some((k) => algorithms[k].isOwn);
  tellAbout();
  drawAgents();
  draw();
}

function draw() {
  // All plots are measured before the first is drawn: measuring after drawing is slow.
  find("so-far-plot").toggleAttribute("hidden", !view.experiment.learning);
  find("regret").hidden = !referenceCurve();
  const plots = [offlinePlot, onlinePlot, map, soFarPlot, regretPlot];
  const areas = plots.map(({ svg }) => areaOf(svg));
  learningAreas = areas.slice(3);
  offlinePlot.draw(view, areas[0], view.experiment.offline, "offline time");
  onlinePlot.draw(view, areas[1], view.online, view.onlineLabel);
  map.draw(view, areas[2]);
  update();
}

// Updates what depends on the bounds.
function update() {
  const { offline, online } = longest();
  const answer = view.comparison.within(offline, online);
  const classes = classesWithin(view, answer, longest());
  const z = new Map(answer.best.map((i, k) => [i, k ? view.comparison.z(answer.best[0], i) : -Infinity]));
  Object.assign(view, { classes, z });
  tellAnswer(answer);
  drawBest(answer);
  drawDifferences(answer);
  drawLearning(answer);
  offlinePlot.update(classes, offline);
  onlinePlot.update(classes, online);
  map.update(answer);
  agentTable.update(["z", "within", "winner"]);
  clearTimeout(toWrite); // browsers refuse many changes of the address per second
  toWrite = setTimeout(remember, 100);
}

function remember() {
  const { experiment, feature, level, asInPaper, hidden } = state;
  const { offline, online } = longest();
  const isUsual = hidden.size === 1 && hidden.has(content.reference);
  writeAddress({
    problem: experiment.problem,
    prior: experiment.case,
    offline: offline < Infinity ? offline : null,
    online: online < Infinity ? online : null,
    feature: feature === content.feature ? null : feature,
    level: level === content.level ? null : content.levels[level],
    choice: asInPaper ? "as-in-paper" : null,
    algorithm: isUsual ? null : algorithms.flatMap(({ name }, k) => (hidden.has(k) ? [] : [name])),
  });
}

const aboveMark = (i) => (view.experiment.above.includes(i) ? " △" : "");
const label = (i) => labelOf(view.algorithmOf(i), view.experiment.labels[i] + aboveMark(i));
const zText = (z) => {
  if (z === undefined) return "";
  if (z === -Infinity) return "best";
  return z < content.far ? z.toFixed(2).replace("-0.00", "0.00") : `> ${content.far}`;
};
const straddleMark = (i) => (straddles(view, i, longest().online) ? " ≈" : "");
const isWithin = (i) => !view.classes[i].includes("out");
const isWinner = (i) => view.classes[i].includes("winner");

// The table of all agents: a column per number that is known, with its name in CSV files.
function drawAgents() {
  const { measured, score, online, experiment } = view;
  const column = (name, key, title, values, more) =>
    (values ? [{ name, key, title, value: (i) => values[i], format: score, ...more }] : []);
  const down = { down: true };
  view.classes = experiment.labels.map(() => "");
  view.z = new Map();
  agentTable.draw([
    { name: "agent", key: "agent", title: "Agent", kind: "name", value: (i) => experiment.labels[i], show: label },
    ...column("score", "score", "Score", measured.scores, down),
    ...column("ci95", "interval", "± 95%", measured.ci95),
    { key: "z", title: "Z", value: (i) => view.z.get(i), show: (i) => zText(view.z.get(i)) },
    ...column("mean_return", "unadjusted", "Mean return", measured.meanReturns, down),
    ...column("mean_return_ci95", "unadjustedInterval", "± 95%", measured.meanReturnsCi95),
    ...column("normalised", "normalised", "Normalised", measured.normalised, { ...down, format: fixed(3) }),
    ...experiment.quantities.flatMap(({ name, key, title, unit, values }) => {
      const format = { format: formatOf(unit) };
      return key === "online" ? column(`${name}_${state.feature}`, key, title, online, format) : column(name, key, title, values, format);
    }),
    { name: "within_bounds", key: "within", title: "In bounds", ...down, value: isWithin, show: (i) => (isWithin(i) ? "yes" : "no") + straddleMark(i) },
    {
      name: "winner", key: "winner", title: "Winner", ...down, value: isWinner,
      show: (i) => (view.references.includes(i) ? "reference" : isWinner(i) ? "★ winner" : ""),
    },
  ], view.listed, (i) => view.classes[i]);
  for (const { item, node } of agentTable.rows) {
    const highlight = (agent) => [offlinePlot, onlinePlot].forEach((plot) => plot.highlight(agent));
    node.addEventListener("pointerenter", () => highlight(item));
    node.addEventListener("pointerleave", () => highlight(null));
  }
}

function drawBest({ best, winners }) {
  const { experiment, measured, online } = view;
  const ends = best.map((i) => [-1, 1].map((side) => measured.scores[i] + side * (measured.ci95[i] || 0)));
  const scale = intervalScale(ends, 90), hasRoom = find("best").parentElement.clientWidth >= LEAST_WITH_PICTURES;
  const below = (i) => (measured.meanReturns ? [small(`(${meanReturn(view, i)})`)] : []);
  bestTable.draw([
    { title: "Agent", kind: "name", show: label },
    { title: "Score ± 95%", show: (i) => [scoreText(view, i), ...below(i)] },
    { title: "Z", show: (i) => zText(view.z.get(i)) },
    ...(hasRoom ? [{ show: (i) => scale.draw(view.algorithmOf(i), measured.scores[i], ends[best.indexOf(i)]) }] : []),
    { title: "Offline", show: (i) => formatSeconds(experiment.offline[i]) },
    { title: "Online", show: (i) => formatSeconds(online[i]) + straddleMark(i) },
  ], best, (i) => (winners.includes(i) ? "winner" : ""));
  const limit = experiment.bound === null ? [] : [element("tr", { class: "out" },
    element("td", { class: "name" }, PAST, small("bound: a one-sided 95% limit")), element("td", { class: "number" }, experiment.boundText),
    element("td", { colspan: 3 + hasRoom }))];
  find("best").tFoot.replaceChildren(...limit);
}

// Paired differences of the best agents to the first of them.
function drawDifferences({ best: [first, ...others] }) {
  const { measured, score, comparison } = view, { scores } = measured;
  const width = Math.min(460, Math.max(80, 0.42 * find("differences").parentElement.clientWidth - 40));
  const rows = others.map((i) => {
    const mean = scores[i] - scores[first], half = comparison.width(first, i);
    return { i, mean, half, ends: [mean - (half || 0), mean + (half || 0)] };
  });
  const scale = intervalScale(rows.map(({ ends }) => ends), width, 0);
  differencesTable.draw([
    { title: "Agent", kind: "name", show: ({ i }) => label(i) },
    { title: "Difference ± 95%", show: ({ mean, half }) => `${minus(score(mean))} ± ${score(half)}` },
    {
      title: rows.length ? scale.axis(find("differences")) : "",
      show: ({ i, mean, ends }) => scale.draw(view.algorithmOf(i), mean, ends),
    },
  ], rows);
}

const curveOf = ({ learning }, i) => pointsOf(learning, learning.agents.indexOf(i));

// The learning curve of the reference, if it has one.
function referenceCurve() {
  const { experiment } = state;
  const agent = experiment.learning?.agents.find((i) => experiment.algorithms[i] === content.reference);
  return agent === undefined ? undefined : curveOf(experiment, agent);
}

function drawLearning({ best, winners }) {
  const { experiment, score } = view;
  const { labels, learning, bound } = experiment;
  soFarPlot.legend.replaceChildren();
  find("learning-note").textContent = NO_DECISIONS;
  if (!learning) return;
  const lines = best.filter((i) => learning.agents.includes(i)).map((i) => {
    const algorithm = view.algorithmOf(i);
    return { algorithm, label: algorithm.name, points: curveOf(experiment, i), isThick: winners.includes(i) };
  });
  const missing = best.filter((i) => !learning.agents.includes(i)).map((i) => labels[i]);
  find("learning-note").textContent = `Means over all MDPs; 95% ${lines.length <= MOST_BANDS ? "bands" : "band of the best agent"}.`
    + (missing.length ? ` Without single decisions, so not shown: ${missing.join(", ")}.` : "");
  const { unit } = experiment.learning;
  soFarPlot.draw(learningAreas[0], lines, scoreLines(experiment, []), score, unit);
  const reference = referenceCurve();
  if (!reference) return;
  const regrets = lines.map(({ points, ...line }) => ({ ...line, points: regretOf(points, reference) }));
  const least = { at: reference.at(-1).mean - bound, name: "no agent that has to learn ends below", className: "limit" };
  regretPlot.draw(learningAreas[1], regrets, bound === null ? [] : [least], score, unit);
}

function tellAnswer({ best, winners }) {
  const { offline, online } = longest();
  const limits = [];
  if (offline < Infinity) limits.push(`${formatSeconds(offline)} offline`);
  if (online < Infinity) limits.push(`${formatSeconds(online)} ${featureText(state.feature).within}`);
  const where = limits.length ? `Within ${limits.join(" and ")}` : "Without time bounds";
  const level = percent(content.levels[state.level]);
  const before = (k) => (k === 0 ? "" : k === winners.length - 1 ? " and " : ", ");
  const names = winners.flatMap((i, k) => [before(k), element("strong", {}, view.algorithmOf(i).name)]);
  let end = ` is best: all others are significantly worse at ${level}.`;
  if (winners.length > 1) end = ` are best (not significantly different at ${level}).`;
  if (best.length === 1) end = " is the only algorithm.";
  if (best.length === 0) end = "no agent.";
  find("answer").replaceChildren(`${where}: `, ...names, end);
  const unsure = view.shown.filter((i) => straddles(view, i, online) && view.experiment.offline[i] <= offline);
  const sides = unsure.map((i) => `${view.experiment.labels[i]} (${view.online[i] <= online ? "within" : "beyond"})`);
  find("straddling").hidden = !unsure.length;
  find("straddling").textContent = `≈ The online bound lies in the 95% interval of the time of: ${sides.join(", ")}.`;
}

function tellAbout() {
  const { experiment, measured, shown, references } = view;
  const limits = measured.limits[state.level], limit = Math.min(...limits);
  const { discount, horizon, episode } = experiment.settings;
  const about = [experiment.name, counted(experiment.numMdps, "MDP")];
  if (!state.asInPaper) about.push(`scores of ${measured.numMdps} of them`);
  if (discount != null) about.push(`discount ${discount}`);
  if (horizon != null) about.push(`${counted(horizon, "decision")}${episode ? ` in episodes of ${episode}` : ""}`);
  if (experiment.bound !== null) about.push(`${PAST} ${experiment.boundText} (one-sided 95% limit)`);
  find("about").textContent = about.join(" · ");
  find("count").textContent = `${shown.length} of ${experiment.labels.length} compete`;
  find("best-note").textContent = "Z is the paired test of the best agent against each: below "
    + `${limit.toFixed(2)}${limits.length > 1 ? " or more" : ""}, the agent is not significantly worse.`
    + (measured.meanReturns ? " Scores are adjusted; in brackets: mean returns, with their luck." : " Scores are mean returns.")
    + (state.asInPaper ? "" : ` Scores and Z are of ${counted(measured.numMdps, "MDP")}, which had no part in choosing the agents.`);
  find("differences-note").textContent = `${measured.meanReturns ? "Adjusted means" : "Mean returns"} minus that of the best agent, on the same `
    + `${counted(measured.numMdps, "MDP")}. An interval that leaves out 0 is a difference that the MDPs show.`;
  tellChoice();
  find("reference-note").hidden = !references.length;
  find("bound-note").hidden = experiment.bound === null;
  find("scale-note").hidden = !measured.normalised;
  find("scale-top").textContent = experiment.bound === null ? "“optimal”" : "the bound";
  find("adjusted-note").hidden = !measured.meanReturns;
  const notes = [...experiment.notes, experiment.warnings[Number(state.asInPaper)]].filter(Boolean);
  find("notes").hidden = !notes.length;
  find("notes").replaceChildren(...notes.map((note) => element("p", {}, note)));
}

// The choices of the controls, for print.
function tellChoice() {
  const left = algorithms.filter((_, k) => k !== content.reference && state.hidden.has(k));
  const parts = [
    `Problem ${state.experiment.problem}, prior ${state.experiment.case}`,
    view.onlineLabel,
    `significance ${percent(content.levels[state.level])}`,
    state.asInPaper ? "as in the paper, agents were chosen and tested on the same MDPs"
      : "the first quarter of the MDPs chose the agents, the others tested them",
  ];
  if (left.length) parts.push(`left out: ${left.map(({ name }) => name).join(", ")}`);
  find("chosen").textContent = `${parts.join("; ")}.`;
}

// Chooses the wanted prior of the chosen problem, or else one as accurate as the current one.
function offerCases(wanted) {
  const { accurate } = state.experiment;
  const same = content.experiments.filter(({ problem }) => problem === find("problem").value);
  state.experiment = same.find((experiment) => experiment.case === wanted)
    ?? same.find((experiment) => experiment.accurate === accurate) ?? same[0];
  offer("case", same.map((experiment) => [experiment.case, experiment.case]), state.experiment.case);
  const features = state.experiment.features.map(({ key }) => key);
  if (!features.includes(state.feature)) state.feature = content.feature;
  offer("feature", features.map((key) => [key, featureText(key).title]), state.feature);
  for (const box of algorithmBoxes()) {
    box.disabled = !state.experiment.algorithms.includes(Number(box.value));
  }
}

function filter(tick) {
  for (const box of tick === undefined ? [] : algorithmBoxes()) {
    box.checked = tick && Number(box.value) !== content.reference;
  }
  const ticked = tickedAlgorithms();
  state.hidden = new Set([...algorithms.keys()].filter((k) => !ticked.includes(k)));
  choose();
}

function chooseFeature(feature) {
  // A bound per decision says nothing about a whole trajectory.
  const alike = [feature, state.feature].every((key) => featureText(key).perDecision);
  if (!alike) bounds.online.set(Infinity, false);
  state.feature = feature;
  choose();
}

function download() {
  const rows = csv(agentTable.named([
    { name: "algorithm", value: (i) => view.algorithmOf(i).name },
    { name: "mdps", value: () => view.measured.numMdps },
    { name: "bound", value: () => view.experiment.bound },
  ]));
  const address = URL.createObjectURL(new Blob([rows], { type: "text/csv" }));
  const name = `${view.experiment.name.replace(/[^\w.-]+/g, "_")}.csv`;
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// Takes the state from the address.
function restore() {
  const named = readAddress(), level = content.levels.indexOf(Number(named.get("level")));
  const names = readList("algorithm"), isNamed = ({ name }) => names?.includes(name);
  const isUsual = names === null || (names.length && !algorithms.some(isNamed));
  state.level = level < 0 ? content.level : level;
  state.asInPaper = named.get("choice") === "as-in-paper";
  state.hidden = new Set(isUsual ? [content.reference] : algorithms.flatMap((each, k) => (isNamed(each) ? [] : [k])));
  const problem = named.get("problem");
  find("problem").value = problems.includes(problem) ? problem : problems[0];
  state.experiment = content.experiments[0];
  state.feature = named.get("feature") ?? content.feature;
  offerCases(named.get("prior"));
  find("level").value = state.level;
  find("as-in-paper").checked = state.asInPaper;
  for (const box of algorithmBoxes()) box.checked = !state.hidden.has(Number(box.value));
  for (const [name, bound] of Object.entries(bounds)) {
    const seconds = parseSeconds(named.get(name) ?? "");
    bound.set(Number.isNaN(seconds) ? Infinity : seconds, false);
  }
  agentTable.restore();
  choose();
}

offerAlgorithms([...algorithms.keys()], () => true, (k) => (k === content.reference ? " (knows the MDP)" : ""));
offer("problem", problems.map((name) => [name, name]));
offer("level", content.levels.map((level, k) => [k, percent(level)]));
listen("problem", "change", () => { offerCases(state.experiment.case); choose(); });
listen("case", "change", ({ value }) => { offerCases(value); choose(); });
listen("feature", "change", ({ value }) => chooseFeature(value));
listen("level", "change", ({ value }) => { state.level = Number(value); choose(); });
listen("as-in-paper", "change", ({ checked }) => { state.asInPaper = checked; choose(); });
listen("algorithms", "change", () => filter());
listen("all", "click", () => filter(true));
listen("none", "click", () => filter(false));
listen("csv", "click", download);
find("controls").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", restore);
restore();
onResize(draw);
