// Tables, made of columns or written by Python, whose headings sort them.

// A column has a title and shows an item; its value, if it has one, sorts. Columns with a key have
// a heading to click on; those marked `down` begin with the largest.
function headOf({ key, title = "", hint, down, kind = "number" }) {
  const attributes = { class: kind, scope: "col" };
  if (key) attributes["data-key"] = key;
  if (kind === "name") attributes["data-text"] = "";
  if (down) attributes["data-down"] = "";
  if (hint) attributes.title = hint;
  return element("th", attributes, ...[title].flat());
}

function cellOf({ kind = "number", value, show, format, className }, item) {
  const parts = [show ? show(item) : format(value(item))].flat();
  if (kind === "name") return element("th", { scope: "row", class: kind }, ...parts);
  const number = value?.(item);
  return element("td", {
    class: className ? `${kind} ${className(item)}` : kind, "data-value": isMissing(number) ? "" : Number(number),
  }, ...parts);
}

const small = (...parts) => element("div", { class: "muted" }, ...parts);

// Rows sort by their cells' data-value, or by their texts in columns of names. Those without a value
// come last, and rows of the class `last` after them. The address keeps the order.
class Table {
  constructor(table, usual = null) {
    Object.assign(this, { table, usual });
    [this.head, this.body] = [table.tHead, table.tBodies[0]];
    this.rows = [...this.body.rows].map((node) => ({ node }));
    this.restore();
  }

  draw(columns, items, className = () => "") {
    Object.assign(this, { columns, className });
    this.head.replaceChildren(element("tr", {}, ...columns.map(headOf)));
    this.rows = items.map((item) => {
      const cells = columns.map((column) => cellOf(column, item));
      return { item, node: element("tr", { class: className(item) }, ...cells) };
    });
    this.prepare();
  }

  // Shows some columns anew, whose items have changed.
  update(keys) {
    const places = this.columns.flatMap(({ key }, k) => (keys.includes(key) ? [k] : []));
    for (const { item, node } of this.rows) {
      if (node.className !== this.className(item)) node.className = this.className(item);
      for (const k of places) {
        const cell = cellOf(this.columns[k], item);
        if (!cell.isEqualNode(node.cells[k])) node.cells[k].replaceWith(cell);
      }
    }
    this.arrange();
  }

  // The columns that have names and further ones, as rows for a file.
  named(further) {
    const columns = [...this.columns.filter(({ name }) => name), ...further];
    return [columns.map(({ name }) => name), ...this.sorted.map(({ item }) => columns.map(({ value }) => value(item)))];
  }

  restore() {
    const [key, way] = (readAddress().get(this.table.id) ?? "").split(" ");
    this.order = key ? { key, down: way === "down" } : this.usual;
    this.prepare();
  }

  // Makes buttons of new headings, and sorts the rows.
  prepare() {
    for (const head of this.head.rows[0]?.cells ?? []) {
      if (!head.dataset.key || head.querySelector("button")) continue;
      const button = element("button", { type: "button" }, ...head.childNodes);
      button.addEventListener("click", () => this.click(head.dataset));
      head.prepend(button);
      if (!("text" in head.dataset)) head.classList.add("number");
    }
    this.arrange();
  }

  click({ key, down }) {
    const isSame = this.order?.key === key;
    this.order = { key, down: isSame ? !this.order.down : down !== undefined };
    writeAddress({ [this.table.id]: `${key} ${this.order.down ? "down" : "up"}` });
    this.arrange();
  }

  arrange() {
    const heads = [...(this.head.rows[0]?.cells ?? [])];
    const place = (order) => heads.findIndex((head) => head.dataset.key === order?.key && order);
    const order = place(this.order) < 0 ? this.usual : this.order;
    const column = place(order);
    heads.forEach((head, k) => {
      if (k === column) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.sorted = column < 0 ? this.rows : this.sortedBy(column, order.down, "text" in heads[column].dataset);
    if (this.sorted.some(({ node }, k) => node !== this.body.rows[k]) || this.body.rows.length !== this.sorted.length) {
      this.body.replaceChildren(...this.sorted.map(({ node }) => node));
    }
  }

  sortedBy(column, down, isText) {
    const compare = (a, b) => (isText ? a.localeCompare(b, undefined, { numeric: true }) : a - b || 0);
    const keyed = this.rows.map((row) => {
      const cell = row.node.cells[column];
      const value = isText ? cell.textContent.trim() : cell.dataset.value ?? "";
      return { row, value, last: 2 * row.node.classList.contains("last") + (value === "") };
    });
    keyed.sort((a, b) => a.last - b.last || (down ? compare(b.value, a.value) : compare(a.value, b.value)));
    return keyed.map(({ row }) => row);
  }
}

// Intervals of several rows on one scale, around a line at zero if there is one: a picture of each,
// and the axis that they share.
function intervalScale(intervals, width, zero = null) {
  const ends = [...intervals.flat(), ...(zero === null ? [] : [zero])];
  const low = Math.min(...ends), high = Math.max(...ends);
  const x = linearScale(low, high > low ? high : low + 1, 12, width - 12);
  const upright = (at, y1, y2) => shape("line", { class: "zero", x1: at, x2: at, y1, y2 });
  const picture = (...parts) =>
    shape("svg", { width, height: 20, viewBox: `0 0 ${width} 20`, "aria-hidden": true }, ...parts);
  return {
    axis(node) {
      if (!ends.length) return [];
      const ticks = ticksApart(x, width / 50, (text) => textWidth(node, text), [0, width]);
      return picture(...ticks.flatMap((tick) => [
        shape("text", { class: "tick", x: tick.middle, y: 11, "text-anchor": "middle" }, tick.label),
        upright(tick.place, 15, 20),
      ]));
    },
    draw(algorithm, mean, [from, to]) {
      const interval = shape("g", { class: "interval", color: algorithm.color },
        shape("line", { x1: x.at(from), x2: x.at(to), y1: 10, y2: 10 }),
        shape("path", { d: markerPath(algorithm), transform: `translate(${x.at(mean)} 10)` }));
      return picture(...(zero === null ? [] : [upright(x.at(zero), 0, 20)]), interval);
    },
  };
}
