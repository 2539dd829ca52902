// Code that all pages share: their data, their state in the address, filters, and the theme.

const find = (id) => document.getElementById(id);
const content = await readContent().catch((error) => {
  find("about").textContent = `This browser can't read the results: use a newer one. (${error})`;
  throw error;
});
const { algorithms } = content;
colourAlgorithms(algorithms);

// The address names what differs from how the page opens: null takes a name out of it, a list has
// its name once per item. What the address does not name, or names wrongly, is as at first.
function writeAddress(changes) {
  const named = readAddress();
  for (const [name, value] of Object.entries(changes)) {
    named.delete(name);
    const values = Array.isArray(value) && !value.length ? [""] : [value ?? []].flat();
    for (const each of values) named.append(name, each);
  }
  history.replaceState(null, "", named.size ? `#${named}` : location.pathname + location.search);
}

const readAddress = () => new URLSearchParams(location.hash.slice(1));

// A list in the address; null if there is none.
const readList = (name) => (readAddress().has(name) ? readAddress().getAll(name).filter(Boolean) : null);

function offer(id, entries, chosen) {
  const options = entries.map(([value, text]) => new Option(text, value, false, value === chosen));
  find(id).replaceChildren(...options);
}

function listen(id, type, act) {
  find(id).addEventListener(type, ({ target }) => act(target));
}

// Boxes to tick, one per algorithm; their values are the algorithms' numbers.
function offerAlgorithms(numbers, isTicked, note = () => "") {
  find("algorithms").replaceChildren(...numbers.map((k) => {
    const box = element("input", { type: "checkbox", value: k });
    box.checked = isTicked(k);
    return element("label", {}, box, mark(algorithms[k]), algorithms[k].name + note(k));
  }));
}

const algorithmBoxes = () => [...find("algorithms").querySelectorAll("input")];
const tickedAlgorithms = () => algorithmBoxes().filter((box) => box.checked).map((box) => Number(box.value));

// Texts that Python wrote get the marks of their algorithms, and places to break.
function markLabels() {
  for (const node of document.querySelectorAll(".label[data-algorithm]")) {
    node.prepend(mark(algorithms[node.dataset.algorithm]));
  }
  for (const link of document.querySelectorAll(".name a")) link.replaceChildren(...breakable(link.textContent));
}

// Marks tables that have more to the right of what is shown.
for (const node of document.querySelectorAll(".scroll")) {
  const tell = () => node.classList.toggle("more", node.scrollWidth - node.clientWidth - node.scrollLeft > 2);
  const observer = new ResizeObserver(tell);
  for (const each of [node, ...node.children]) observer.observe(each);
  node.addEventListener("scroll", tell);
}

function onResize(draw) {
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) draw();
    width = innerWidth;
  });
}

listen("theme", "click", () => {
  const { dataset } = document.documentElement;
  const now = dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  dataset.theme = now === "dark" ? "light" : "dark";
});
