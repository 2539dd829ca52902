// The page's state in its address, so that it can be shared. What the address does not name, or
// names wrongly, is as when the page is opened.

function writeAddress({ experiment, feature, level, honest, hidden }, bounds) {
  const named = new URLSearchParams({ problem: experiment.problem, prior: experiment.case });
  for (const [name, seconds] of Object.entries(bounds)) {
    if (seconds < Infinity) named.set(name, seconds);
  }
  if (feature !== data.feature) named.set("feature", feature);
  if (level !== data.level) named.set("level", data.levels[level]);
  if (honest) named.set("honest", "1");
  const isUsual = hidden.size === 1 && hidden.has(data.reference);
  if (!isUsual) {
    const shown = data.algorithms.filter((_, k) => !hidden.has(k));
    for (const { name } of shown) named.append("algorithm", name);
    if (!shown.length) named.set("algorithm", "");
  }
  history.replaceState(null, "", `#${named}`);
}

function readAddress() {
  const named = new URLSearchParams(location.hash.slice(1));
  const level = data.levels.indexOf(Number(named.get("level")));
  const seconds = (name) => {
    const bound = parseSeconds(named.get(name) ?? "");
    return Number.isNaN(bound) ? Infinity : bound;
  };
  return {
    problem: named.get("problem"),
    prior: named.get("prior"),
    feature: named.get("feature"),
    level: level < 0 ? data.level : level,
    honest: named.get("honest") === "1",
    hidden: hiddenBy(named.getAll("algorithm")),
    offline: seconds("offline"),
    online: seconds("online"),
  };
}

function hiddenBy(names) {
  const numbers = data.algorithms.map((_, k) => k);
  const isShown = (k) => names.includes(data.algorithms[k].name);
  const isNone = names.length === 1 && names[0] === "";
  if (!isNone && !numbers.some(isShown)) return new Set([data.reference]);
  return new Set(numbers.filter((k) => !isShown(k)));
}
