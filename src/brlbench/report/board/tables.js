// What all pages of the board share: tables that sort, marks of algorithms, state in the address.

const find = (id) => document.getElementById(id);
const content = JSON.parse(find("content").textContent);
colourAlgorithms(content.algorithms);

// The address keeps what differs from how the page opens; null takes a name out of it.
function writeAddress(changes) {
  const named = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) named.delete(name);
    else named.set(name, value);
  }
  history.replaceState(null, "", named.size ? `#${named}` : location.pathname + location.search);
}

const readAddress = () => new URLSearchParams(location.hash.slice(1));

// Rows sort by their cells' data-value, or their texts in columns marked data-text. Those without a
// value come last, and references after them. Columns marked data-down begin with the largest.
class SortableTable {
  constructor(table, usual) {
    Object.assign(this, { table, usual });
    this.restore();
  }

  restore() {
    const [key, way] = (readAddress().get(this.table.id) ?? "").split(" ");
    this.sorted = key ? { key, down: way === "down" } : this.usual;
    this.prepare();
  }

  // Makes buttons of new headings, and sorts new rows.
  prepare() {
    for (const head of this.table.tHead.rows[0]?.cells ?? []) {
      if (!head.dataset.key || head.querySelector("button")) continue;
      const button = element("button", { type: "button" }, ...head.childNodes);
      button.addEventListener("click", () => this.click(head.dataset));
      head.append(button);
      if (!("text" in head.dataset)) head.classList.add("number");
    }
    this.arrange();
  }

  click({ key, down }) {
    const isSame = this.sorted?.key === key;
    this.sorted = { key, down: isSame ? !this.sorted.down : down !== undefined };
    writeAddress({ [this.table.id]: `${key} ${this.sorted.down ? "down" : "up"}` });
    this.arrange();
  }

  arrange() {
    const heads = [...(this.table.tHead.rows[0]?.cells ?? [])];
    let column = heads.findIndex((head) => head.dataset.key === this.sorted?.key);
    let { down } = this.sorted ?? {};
    if (column < 0) {
      column = heads.findIndex((head) => head.dataset.key === this.usual?.key);
      down = this.usual?.down;
    }
    heads.forEach((head, k) => {
      if (k === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    if (column < 0) return;
    const isText = "text" in heads[column].dataset;
    const value = (row) => (isText ? row.cells[column].textContent.trim() : row.cells[column].dataset.value);
    const last = (row) => 2 * row.classList.contains("reference") + ((value(row) ?? "") === "");
    const compare = (a, b) => (isText ? a.localeCompare(b, undefined, { numeric: true }) : a - b);
    const rows = [...this.table.tBodies[0].rows];
    rows.sort((a, b) => last(a) - last(b) || (down ? -1 : 1) * compare(value(a), value(b)));
    this.table.tBodies[0].append(...rows);
  }
}

function markLabels() {
  for (const node of document.querySelectorAll(".label[data-algorithm]")) {
    node.prepend(mark(content.algorithms[node.dataset.algorithm]));
  }
  for (const link of document.querySelectorAll(".name a")) link.replaceChildren(...breakable(link.textContent));
}

// Draws now, and again when the width changes.
function drawAlways(draw) {
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) draw();
    width = innerWidth;
  });
  draw();
}
