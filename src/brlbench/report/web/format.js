// Times, sizes and scores as text, and back.

const UNITS = [[3600, "h"], [60, "min"], [1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const NO_BOUND = "no bound";
const NONE = "–";
// The words before the bound on scores, as in report/words.py.
const PAST = "no agent that has to learn can pass";
// Formats of measured quantities, by unit; others are shown with three digits.
const FORMATS = { seconds: formatSeconds, bytes: formatMemory };
const formatOf = (unit) => FORMATS[unit] ?? known((value) => String(Number(value.toPrecision(3))));
const isMissing = (value) => value === null || value === undefined || Number.isNaN(value);
const known = (format) => (value) => (isMissing(value) ? NONE : format(value));
const fixed = (decimals) => known((value) => value.toFixed(decimals));
const percent = (part) => `${Number((100 * part).toFixed(4))}%`;
const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const minus = (text) => (/^-?0*\.?0*$/.test(text) ? text.replace("-", "") : text.replace("-", "−"));

function formatSeconds(seconds) {
  if (seconds === Infinity) return NO_BOUND;
  if (isMissing(seconds)) return NONE;
  if (seconds === 0) return "0 s";
  // The smallest unit in which three digits don't round up to the next unit.
  const unit = UNITS.find(([size]) => Number((seconds / size).toPrecision(3)) >= 1) ?? UNITS.at(-1);
  return `${Number((seconds / unit[0]).toPrecision(3))} ${unit[1]}`;
}

// Seconds, Infinity for no bound, or NaN for what is not a time.
function parseSeconds(text) {
  const plain = text.trim().toLowerCase().replace("μ", "µ");
  if (["", "none", "∞", NO_BOUND].includes(plain)) return Infinity;
  const parts = /^(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+)\s*([a-zµ]*)$/.exec(plain);
  if (!parts) return NaN;
  const unit = { "": "s", us: "µs", m: "min" }[parts[2]] ?? parts[2];
  const size = unit === "d" ? 86400 : UNITS.find(([, name]) => name === unit)?.[0];
  return Number(parts[1]) * size;
}

function formatMemory(bytes) {
  if (isMissing(bytes)) return NONE;
  const size = bytes / 2 ** 20;
  return size < 1 ? "< 1 MiB" : `${size.toFixed(size < 9.95 ? 1 : 0)} MiB`; // less can't be measured
}

function scoreFormat(scores) {
  const largest = scores.reduce((most, s) => Math.max(most, Math.abs(s)), 0);
  return fixed(largest > 0 ? Math.min(8, Math.max(2, 2 - Math.floor(Math.log10(largest)))) : 2);
}

function csv(rows) {
  const cell = (value) => {
    const isFormula = typeof value === "string" && /^[=+\-@\t\r]/.test(value); // for spreadsheets
    const text = (isFormula ? "'" : "") + (isMissing(value) ? "" : String(value));
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
}
