// The controls of the page: whatever is moved, everything that depends on it is computed anew from the numbers embedded.

const PAUSE = 160;
const ALONG = 15;
const SAME = 1e-9;
const FIRST_COST = 0.01;
const FOLLOWING = ["live-curve", "live-dial", "live-weights"];

// A number that JSON may lack, as it was stored.
function numberOf(value) {
  return { inf: Infinity, "-inf": -Infinity, nan: NaN }[value] ?? value;
}

// A price as a person writes it; NaN where it is none.
function readPrice(text) {
  const plain = text.trim().toLowerCase().replace(",", ".");
  if (["∞", "inf", "infinity"].includes(plain)) return Infinity;
  const value = plain === "" ? NaN : Number(plain);
  return value > 0 ? value : NaN;
}

function theme() {
  const button = document.getElementById("theme");
  const dark = () => document.documentElement.dataset.theme === "dark"
    || (!document.documentElement.dataset.theme && window.matchMedia("(prefers-color-scheme: dark)").matches);
  const name = () => { button.textContent = dark() ? "Light" : "Dark"; };
  button.hidden = false;
  name();
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    name();
  });
}

// What a status says where it is not proved: further changes may exist that were not found.
const UNPROVED = { unreachable: "not_found", largest: "attained" };

// What is known of a number with a lower bound.
function floored({ value, lower }) {
  if (lower >= value * (1 - SAME)) return "exact";
  if (value === Infinity) return "not found";
  return lower > 0 ? "two-sided" : "upper bound only";
}

class Desk {
  constructor({ live, titles, rows }) {
    this.live = live;
    this.held = rows;
    this.responses = responsesOf(live.profile);
    this.floors = floorsOf(live.profile);
    this.base = unpacked(live.base);
    this.form = live.percent ? percentage : (value) => plainNumber(value);
    this.scale = live.percent ? 100 : 1;
    this.still = FOLLOWING.map((id) => [document.getElementById(id), [...document.getElementById(id).childNodes]]);
    this.rows = ["rows-shown", "rows-note"].map((id) => [document.getElementById(id), [...document.getElementById(id).childNodes]]);
    this.counts = document.getElementById("rows-note").textContent;
    this.names = { ...titles };
    if (live.precomputed) this.names[live.setting.divergence] = live.precomputed.title;
    this.input = Object.fromEntries(["risk", "theta1", "theta2", "risk-slider", "mix-slider"].map((id) => [id, document.getElementById(id)]));
    this.reset();
    this.listen();
    document.getElementById("live").hidden = false;
  }

  reset() {
    const { setting, budget, mix } = this.live;
    this.setting = { ...setting, theta1: numberOf(setting.theta1), theta2: numberOf(setting.theta2) };
    this.budget = budget;
    this.mix = mix;
    this.cost = null;
    if (this.beforehand()) this.lookUp("risk", this.setting.risk);
    this.show();
    this.compute();
  }

  // Whether the divergence chosen is one that the page has no formulas for: it then shows what was computed beforehand.
  beforehand() {
    return !(this.setting.divergence in DIVERGENCES);
  }

  // The nearest setting that was computed beforehand, along one of the report's two curves: the other control is the report's.
  lookUp(along, at) {
    const { thresholds, mixes } = this.live.precomputed;
    const place = ({ theta1 }) => 1 / numberOf(theta1) / this.live.budget;
    const apart = (record) => Math.abs((along === "risk" ? record.risk : place(record)) - at);
    const nearest = (along === "risk" ? thresholds : mixes).reduce((a, b) => (apart(b) < apart(a) ? b : a));
    this.record = Object.fromEntries(Object.entries(nearest).map(([name, value]) => [name, numberOf(value)]));
    const { risk, theta1, theta2 } = this.record;
    Object.assign(this.setting, { risk, theta1, theta2 });
    this.budget = this.live.budget;
    this.mix = place(this.record);
  }

  listen() {
    const { risk, theta1, theta2 } = this.input;
    const [low, high] = this.live.risks;
    this.input["risk-slider"].addEventListener("input", (event) => {
      this.toThreshold(low + ((high - low) * event.target.value) / event.target.max);
    });
    risk.addEventListener("change", () => {
      const value = Number(risk.value.replace("%", "").replace(",", "."));
      if (risk.value.trim() === "" || !Number.isFinite(value)) return this.complain(`“${risk.value}” is not a number.`);
      this.toThreshold(value / this.scale);
    });
    this.input["mix-slider"].addEventListener("input", (event) => {
      this.mix = event.target.value / event.target.max;
      if (this.beforehand()) {
        this.lookUp("mix", this.mix);
        this.changed();
        return;
      }
      this.setting.theta1 = this.mix > 0 ? 1 / (this.budget * this.mix) : Infinity;
      this.setting.theta2 = this.mix < 1 ? 1 / (this.budget * (1 - this.mix)) : Infinity;
      this.changed();
    });
    const prices = () => {
      const [moving, reweighting] = [readPrice(theta1.value), readPrice(theta2.value)];
      if (Number.isNaN(moving) || Number.isNaN(reweighting)) return this.complain("A price must be a positive number, or ∞.");
      if (moving === Infinity && reweighting === Infinity) return this.complain("With both prices infinite nothing may change.");
      if (this.beforehand()) return this.complain(`Other prices were not computed beforehand for ${this.names[this.setting.divergence]}.`);
      this.setting.theta1 = moving;
      this.setting.theta2 = reweighting;
      this.budget = 1 / moving + 1 / reweighting;
      this.mix = 1 / moving / this.budget;
      this.changed();
    };
    theta1.addEventListener("change", prices);
    theta2.addEventListener("change", prices);
    for (const choice of document.getElementsByName("divergence")) {
      choice.addEventListener("change", () => {
        this.setting.divergence = choice.value;
        if (this.beforehand()) this.reset();
        else this.changed();
      });
    }
    const paid = document.getElementById("cost");
    paid.addEventListener("input", () => this.toCost(paid.value));
    document.getElementById("reset").addEventListener("click", () => this.reset());
    document.getElementById("controls").addEventListener("submit", (event) => event.preventDefault());
  }

  toThreshold(risk) {
    if (this.beforehand()) this.lookUp("risk", risk);
    else this.setting.risk = risk;
    this.changed();
  }

  toCost(text) {
    const cost = text.trim() === "" ? NaN : Number(text.replace(",", "."));
    const fine = cost >= 0 && cost < Infinity;
    document.getElementById("cost-complaint").textContent = fine ? "" : `“${text}” is no cost; give a number, 0 or more.`;
    if (!fine) return;
    this.cost = cost;
    this.sayWorst();
  }

  complain(words) {
    document.getElementById("complaint").textContent = words;
  }

  changed() {
    this.complain("");
    this.show();
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.compute();
    });
  }

  // The controls follow the setting.
  show() {
    const { risk, theta1, theta2, divergence } = this.setting;
    const [low, high] = this.live.risks;
    const focused = document.activeElement;
    const write = (input, text) => { if (input !== focused || input.type !== "text") input.value = text; };
    write(this.input.risk, plainNumber(this.scale * risk, 5));
    write(this.input.theta1, plainNumber(theta1, 5));
    write(this.input.theta2, plainNumber(theta2, 5));
    const slider = this.input["risk-slider"], dial = this.input["mix-slider"];
    slider.value = Math.round((slider.max * (risk - low)) / (high - low));
    slider.setAttribute("aria-valuetext", this.form(risk));
    dial.value = Math.round(dial.max * this.mix);
    dial.setAttribute("aria-valuetext", `${percentage(this.mix)} towards moving`);
    for (const choice of document.getElementsByName("divergence")) choice.checked = choice.value === divergence;
    document.getElementById("mix-low").textContent = aloneInWords("reweighting", 1 / this.budget);
    document.getElementById("mix-high").textContent = aloneInWords("moving", 1 / this.budget);
  }

  // Whether the setting is the report's own: its pictures then stand, with their bands.
  atHome() {
    const { setting } = this.live;
    return this.setting.risk === setting.risk && this.setting.divergence === setting.divergence
      && this.setting.theta1 === numberOf(setting.theta1) && this.setting.theta2 === numberOf(setting.theta2);
  }

  // What is known of a number: the report's own badge, or what its responses are worth elsewhere.
  standing(found) {
    const [own, elsewhere] = this.live.standing;
    if (this.atHome()) return own;
    if (found.status === "already" || this.unmoved()) return "exact";
    if (this.floors && !["exact", "interrupted"].includes(elsewhere)) return floored(found);
    return ["unreachable", "not_found"].includes(found.status) && elsewhere === "upper bound only" ? "not found" : elsewhere;
  }

  // Whether nothing may move, and the present losses, which need no search, are known; of a table some may be missing.
  unmoved() {
    return this.setting.theta1 === Infinity && this.live.present;
  }

  // Whether the status is proved: an exact number does not say that nothing lies beyond it.
  proves(found) {
    return found.status === "largest" ? this.unmoved() || this.live.standing[1] === "exact" : this.standing(found) === "exact";
  }

  compute() {
    const found = this.beforehand() ? this.record : answer(this.responses, this.base, this.setting);
    if (this.floors && !this.beforehand()) found.lower = Math.min(answer(this.floors, this.base, this.setting).value, found.value);
    else if (this.atHome()) found.lower = Math.min(numberOf(this.live.lower), found.value); // proved by more than the page holds
    if (!this.proves(found)) found.status = UNPROVED[found.status] ?? found.status;
    this.found = found;
    this.say(found);
    splitInWords("excess", found.corruption_excess, found.reweighting_excess, this.form);
    splitInWords("cost", found.corruption_cost, found.reweighting_cost, (value) => plainNumber(value));
    showBadge(document.getElementById("live-standing"), this.standing(found));
    if (this.cost === null) { // begin with what the report's own threshold costs
      this.cost = found.value > 0 && found.value < Infinity ? found.value : FIRST_COST;
      document.getElementById("cost").value = plainNumber(this.cost, 5);
    }
    this.sayWorst();
    if (this.beforehand()) for (const [place, nodes] of this.rows) place.replaceChildren(...nodes);
    else showRows(document.getElementById("rows-shown"), document.getElementById("rows-note"), this.counts, this.held, this.responses, this.base, found, this.form);
    clearTimeout(this.later);
    if (this.beforehand() || this.atHome()) {
      for (const [place, nodes] of this.still) place.replaceChildren(...nodes);
      document.documentElement.dataset.drawn = "still";
      return;
    }
    weightChart(document.getElementById("live-weights"), this.base, found.weights);
    this.later = setTimeout(() => this.curves(found), PAUSE);
  }

  say(found) {
    const put = (key, value, text) => {
      const place = document.getElementById(`live-${key}`);
      place.dataset.value = value;
      place.textContent = text;
    };
    put("value", found.value, plainNumber(found.value));
    put("moved_share", found.moved_share, percentage(found.moved_share));
    const move = this.live.unit === "cost" ? plainNumber(found.root_mean_square_move ** 2, 3) : plainNumber(found.root_mean_square_move, 3);
    put("root_mean_square_move", found.root_mean_square_move, move);
    put("effective_share", found.effective_share, percentage(found.effective_share));
    put("nats", found.nats, plainNumber(found.nats));
    const place = document.getElementById("live-value");
    Object.assign(place.dataset, { status: found.status, lower: found.lower, risk: found.risk, theta1: found.theta1,
      theta2: found.theta2, divergence: found.divergence });
    const { what } = this.live, [now, then] = [this.form(found.current), this.form(found.risk)];
    document.getElementById("live-words").textContent = {
      already: found.current >= found.risk
        ? `The ${what} is ${now} now, at or above ${then}: nothing has to change.`
        : `The ${what} is ${now} now, and the threshold is ${then}: nothing needs to be paid to get there.`,
      unreachable: `Out of reach: no change that is allowed here raises the ${what} to ${then}. The largest is ${this.form(found.largest)}.`,
      not_found: `No change was found that raises the ${what} to ${then}. The largest that was found is ${this.form(found.largest)}.`,
      largest: `To raise the ${what} from ${now} to ${then}, the largest there is.`,
      attained: `is the price of raising the ${what} from ${now} to ${then}.`,
    }[found.status];
    if (this.standing(found) === "two-sided" || this.standing(found) === "not found") {
      document.getElementById("live-words").textContent += ` Proved: at least ${plainNumber(found.lower, 6)}.`;
    }
    const kind = this.names[found.divergence];
    document.getElementById("live-setting").textContent =
      `Threshold ${then}; price of moving ${plainNumber(found.theta1)}, of reweighting ${plainNumber(found.theta2)} (${kind}).`;
  }

  // The risk that the cost reaches, at the prices of the setting, and what is known of it.
  sayWorst() {
    const place = document.getElementById("live-worst"), words = document.getElementById("worst-words");
    const badge = document.getElementById("worst-standing"), { cost, live, form } = this;
    const found = this.beforehand() ? this.worstBeforehand() : worst(this.responses, this.base, this.setting, cost);
    const { standing, ceiling } = this.beforehand() ? found : this.worstStanding(found);
    Object.assign(place.dataset, { value: found.value, ceiling, status: found.status, cost, spent: found.spent });
    place.textContent = form(found.value);
    showBadge(badge, standing);
    const [paid, now, then] = [plainNumber(cost), form(found.current), form(found.value)];
    const enough = found.status === "largest" ? ` ${plainNumber(found.spent)} is enough for that.` : "";
    words.textContent = {
      exact: found.status === "largest"
        ? `No change raises the ${live.what} above ${then}, from ${now} now.`
        : `No change that costs ${paid} raises the ${live.what} above ${then}, from ${now} now.`,
      "two-sided": `A change that costs ${paid} raises the ${live.what} from ${now} to ${then}. Proved: none raises it above ${form(ceiling)}.`,
    }[standing] ?? `A change that costs ${paid} was found that raises the ${live.what} from ${now} to ${then}; another may raise it further.`;
    words.textContent = found.words ?? words.textContent + enough;
  }

  // What responses that were searched for reach may be less than the truth, and by bounds on them nothing reaches more.
  worstStanding(found) {
    const elsewhere = this.live.standing[1];
    if (this.unmoved()) return { standing: "exact", ceiling: found.value };
    if (this.floors && !["exact", "interrupted"].includes(elsewhere)) {
      const ceiling = Math.max(worst(this.floors, this.base, this.setting, this.cost).value, found.value);
      return { standing: ceiling - found.value <= SAME * found.rise ? "exact" : "two-sided", ceiling };
    }
    if (elsewhere === "exact") return { standing: "exact", ceiling: found.value };
    return { standing: elsewhere === "upper bound only" ? "lower bound only" : elsewhere, ceiling: Infinity };
  }

  // The largest of the thresholds computed beforehand that the cost reaches, at the report's own prices; nothing in between.
  worstBeforehand() {
    const { cost, form, live } = this;
    const known = live.precomputed.thresholds.map((record) => ({ risk: record.risk, value: numberOf(record.value), current: record.current }));
    const reached = known.filter(({ value }) => value <= cost), beyond = known.find(({ value }) => value > cost);
    const { risk, value, current } = reached.at(-1) ?? { risk: known[0].current, value: 0, current: known[0].current };
    const next = beyond ? ` The next threshold, ${form(beyond.risk)}, takes ${plainNumber(beyond.value)}.` : "";
    return { status: "attained", value: risk, current, spent: value, standing: "lower bound only", ceiling: Infinity,
      words: `Computed beforehand, at this report's own prices: ${plainNumber(value)} is enough to raise the ${live.what} from `
        + `${form(current)} to ${form(risk)}.${next} What lies between was not computed.` };
  }

  // Two curves around the setting, a point at a time so that the page stays quick.
  curves(found) {
    const { live, setting, budget, base, responses } = this;
    const steps = Array.from({ length: ALONG }, (_, k) => k / (ALONG - 1));
    const low = found.current;
    const top = Number.isFinite(found.largest) ? low + SHARED.curves.reach * (found.largest - low) : Math.max(live.risks[1], setting.risk);
    const tasks = [
      ...steps.map((step) => ["curve", low + step * (top - low), { ...setting, risk: low + step * (top - low) }]),
      ...steps.map((step) => ["dial", step, { ...setting, theta1: step > 0 ? 1 / (budget * step) : Infinity,
        theta2: step < 1 ? 1 / (budget * (1 - step)) : Infinity }]),
    ];
    const points = { curve: [], dial: [] };
    const next = () => {
      if (this.found !== found) return;
      const task = tasks.shift();
      if (task) {
        points[task[0]].push([task[1], answer(responses, base, task[2]).value]);
        setTimeout(next, 0);
        return;
      }
      lineChart(document.getElementById("live-curve"), points.curve, [found.risk, found.value],
        { label: SHARED.curves.thresholds, form: this.form, axis: `threshold (${live.what})` });
      lineChart(document.getElementById("live-dial"), points.dial, [this.mix, found.value],
        { label: SHARED.curves.mixes, ends: [aloneInWords("reweighting", 1 / budget), aloneInWords("moving", 1 / budget)], axis: SHARED.curves.axis });
      document.documentElement.dataset.drawn = "anew";
    };
    next();
  }
}

theme();
const embedded = JSON.parse(document.getElementById("summary").textContent);
if (embedded.live) new Desk(embedded);
