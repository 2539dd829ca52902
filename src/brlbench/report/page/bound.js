// A bound on a time: a slider that snaps to the agents' own times, and a field for any time.

class Bound {
  constructor(root, onChange) {
    this.slider = root.querySelector("input[type=range]");
    this.field = root.querySelector("input[type=text]");
    this.onChange = onChange;
    this.seconds = Infinity;
    this.setTimes([]);
    this.slider.addEventListener("input", () => this.set(this.nearest(this.slider.valueAsNumber)));
    this.slider.addEventListener("keydown", (event) => {
      const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
      const step = { ...steps, Home: -Infinity, End: Infinity }[event.key];
      if (!step) return;
      event.preventDefault();
      this.step(step);
    });
    this.field.addEventListener("focus", () => this.field.select());
    this.field.addEventListener("change", () => {
      const seconds = parseSeconds(this.field.value);
      const wrong = Number.isNaN(seconds) ? "A time is a number with a unit: ns, µs, ms, s, min or h." : "";
      this.field.setCustomValidity(wrong);
      if (wrong) this.field.reportValidity();
      else this.set(seconds);
    });
  }

  // The times at which the slider stops; its last stop means no bound.
  setTimes(times) {
    this.times = [...new Set(times)].filter(Number.isFinite).sort((a, b) => a - b);
    this.stops = [...this.times, Infinity];
    this.scale = logScale(this.times, 0, 1000);
    this.show();
  }

  nearest(place) {
    const distance = (t) => Math.abs(this.scale.at(t) - place);
    return this.stops.reduce((stop, t) => (distance(t) < distance(stop) ? t : stop), Infinity);
  }

  // Snap down to a stop, which has the same answer; near the slider's end, to no bound.
  setBelow(seconds, notify) {
    const stop = this.times.findLast((t) => t <= seconds) ?? this.stops[0];
    const last = this.times.at(-1), end = this.scale.back(1000);
    this.set(stop === last && seconds > Math.sqrt(last * end) ? Infinity : stop, notify);
  }

  step(count) {
    const { stops, seconds } = this;
    const now = count > 0 ? stops.findLastIndex((t) => t <= seconds) : stops.findIndex((t) => t >= seconds);
    this.set(stops[Math.min(stops.length - 1, Math.max(0, now + count))]);
  }

  set(seconds, notify = true) {
    this.seconds = seconds;
    this.show();
    if (notify) this.onChange();
  }

  show() {
    const text = formatSeconds(this.seconds);
    this.field.setCustomValidity("");
    this.field.value = text;
    this.slider.value = this.scale.at(this.seconds);
    this.slider.setAttribute("aria-valuetext", text);
    this.slider.dataset.seconds = this.seconds;
  }
}
