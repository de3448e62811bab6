// R = max over h of g(h) = h·r - Ψ(θ1·e_i(h/θ1)), with the pair of perturbations that encloses it, as in
// tippingpoint.core (problem, divergences, dual). Every limit is served: θ = ∞, R = 0, R = ∞, the largest risk in reach.

const TOLERANCE = 1e-12;
const ROUNDING = 1e-14;
const EVALUATIONS = 300;
const HALVINGS = 2200;
const STRIDE = 1e3;
const ASIDE = 2 ** -40;
const BLOCK = 128;

// Σ a_i·b_i, summed in blocks so that long sums keep their digits.
function total(a, b) {
  let sum = 0;
  for (let start = 0; start < a.length; start += BLOCK) {
    const end = Math.min(start + BLOCK, a.length);
    let part = 0;
    for (let i = start; i < end; i++) part += a[i] * b[i];
    sum += part;
  }
  return sum;
}

function largest(values) {
  let top = -Infinity;
  for (let i = 0; i < values.length; i++) if (values[i] > top) top = values[i];
  return top;
}

function least(values) {
  let low = Infinity;
  for (let i = 0; i < values.length; i++) if (values[i] < low) low = values[i];
  return low;
}

// The α for which the weights of the scores values + α average one: Newton's method, bracketed.
function balance(formula, values, base) {
  let low = -largest(values), high = -least(values);
  let alpha = Math.min(Math.max(-total(base, values), low), high), length = high - low;
  for (let k = 0; k < HALVINGS; k++) {
    const scores = values.map((v) => v + alpha);
    const mean = total(base, scores.map(formula.changes));
    const step = alpha - mean / total(base, scores.map(formula.stiffness));
    if (mean <= 0) low = alpha;
    else high = alpha; // also where it is infinite, or none
    const fast = low < step && step < high && Math.abs(step - alpha) <= 0.5 * length;
    const after = fast ? step : 0.5 * (low + high);
    length = Math.abs(after - alpha);
    if (mean === 0 || length <= Number.EPSILON * Math.abs(alpha)) break;
    alpha = after;
  }
  return alpha;
}

// A divergence from the formulas that its class states (Divergence.browser), with what is the same for all: the weights
// w = 1 + changes that are best for values at price θ.
function divergenceOf(formula) {
  return {
    alpha: (values, base) => balance(formula, values, base),
    crowding: () => 1,
    tilt(values, base, theta) {
      const top = largest(values);
      const scaled = values.map((v) => (v - top) / theta);
      const alpha = this.alpha(scaled, base);
      const scores = scaled.map((s) => s + alpha);
      const [changes, conjugate, stiffness] = [formula.changes, formula.conjugate, formula.stiffness].map((f) => scores.map((s) => f(s)));
      return { changes, scores, conjugate, stiffness, alpha: alpha * theta - top };
    },
    ...formula,
  };
}

const DIVERGENCES = Object.fromEntries(Object.entries(FORMULAS).map(([name, formula]) => [name, divergenceOf(formula)]));

// Σ p·φ(w) by Fenchel's equality, arranged so that nothing large cancels.
function penalty(divergence, tilt, base) {
  let size = 0;
  for (let i = 0; i < base.length; i++) size = Math.max(size, Math.abs(tilt.scores[i]));
  const mass = base.map((p, i) => p * (size < 1 ? tilt.changes[i] : 1 + tilt.changes[i]));
  const rest = size < 1 ? tilt.scores.map(divergence.centred) : tilt.conjugate;
  return Math.max(total(mass, tilt.scores) - total(base, rest), 0);
}

class Problem {
  constructor(responses, base, { risk, theta1, theta2, divergence }) {
    Object.assign(this, { responses, base, risk, theta1, theta2, divergence: DIVERGENCES[divergence] });
    this.moves = Number.isFinite(theta1);
    this.reweights = Number.isFinite(theta2);
    const losses = responses.losses;
    const floor = least(losses);
    const raised = losses.map((loss) => loss - floor);
    const mean = total(base, raised);
    this.current = total(base, losses);
    this.above = raised.map((loss) => loss - mean);
    this.wanted = risk - floor - mean;
    this.peak = this.moves ? responses.peak() : nobody(base.length);
    const highest = losses.map((loss, i) => loss + this.peak.lift[i]);
    this.reachable = this.reweights ? largest(highest) : total(base, highest);
  }

  evaluate(price) {
    const { base, theta1, theta2 } = this;
    const losses = this.responses.losses;
    const response = this.moves ? this.responses.respond(price / theta1) : nobody(base.length);
    const gain = losses.map((_, i) => (this.moves ? price * response.lift[i] - theta1 * response.cost[i] : 0));
    const meanGain = total(base, gain);
    let value = price * this.wanted - meanGain;
    if (!this.reweights) {
      const curvature = total(base, response.slope) / theta1;
      return this.evaluation(price, response, new Float64Array(base.length), 0, curvature, value);
    }
    let values = this.above.map((above, i) => price * above + gain[i] - meanGain);
    const centred = Math.max(largest(values), -least(values)) < theta2;
    if (!centred) values = losses.map((loss, i) => price * (loss - this.risk) + gain[i]);
    const tilt = this.divergence.tilt(values, base, theta2);
    if (centred) value -= theta2 * total(base, tilt.scores.map(this.divergence.centred));
    else value = tilt.alpha - theta2 * total(base, tilt.conjugate);
    const reweighting = theta2 * penalty(this.divergence, tilt, base);
    const curvature = this.curvature(response, tilt);
    return this.evaluation(price, response, tilt.changes, reweighting, curvature, value);
  }

  // -g'' between jumps: how fast the risk rises with h because weights and responses move.
  curvature(response, tilt) {
    const { base } = this;
    const mass = base.map((p, i) => p * tilt.stiffness[i]);
    const reached = this.above.map((above, i) => above + response.lift[i]);
    const whole = mass.reduce((sum, m) => sum + m, 0);
    const mean = whole > 0 ? total(mass, reached) / whole : 0;
    const spread = total(mass, reached.map((loss) => (loss - mean) ** 2)) / this.theta2;
    const weighted = base.map((p, i) => p * (1 + tilt.changes[i]));
    return spread + (this.moves ? total(weighted, response.slope) / this.theta1 : 0);
  }

  evaluation(price, response, changes, reweighting, curvature, value) {
    const mass = this.base.map((p, i) => p * changes[i]);
    const reweighted = total(mass, this.above);
    for (let i = 0; i < mass.length; i++) mass[i] += this.base[i];
    const moving = this.moves ? this.theta1 * total(mass, response.cost) : 0;
    const excess = reweighted + total(mass, response.lift) - this.wanted;
    return { price, response, changes, excess, curvature, value, moving, reweighting, cost: moving + reweighting };
  }

  rest() {
    const n = this.base.length;
    const response = this.moves ? this.responses.respond(0) : nobody(n);
    let curvature = this.moves ? total(this.base, response.slope) / this.theta1 : 0;
    if (this.reweights) curvature += (this.divergence.stiffness(0) * total(this.base, this.above.map((a) => a * a))) / this.theta2;
    return this.evaluation(0, response, new Float64Array(n), 0, curvature, 0);
  }

  // The cheapest perturbation of all that reach the largest risk.
  concentrated() {
    const { base, peak, theta2, divergence } = this;
    const highest = this.responses.losses.map((loss, i) => loss + peak.lift[i]);
    const changes = new Float64Array(base.length);
    if (!this.reweights) return this.evaluation(Infinity, peak, changes, 0, 0, 0);
    const bar = largest(highest) - 1e-12 * largest(highest.map(Math.abs));
    const top = [...base.keys()].filter((i) => highest[i] >= bar);
    const share = top.reduce((sum, i) => sum + base[i], 0);
    const costs = Float64Array.from(top, (i) => (this.moves ? -this.theta1 * peak.cost[i] : 0));
    const within = Float64Array.from(top, (i) => base[i] / share);
    const tilt = divergence.tilt(costs, within, theta2 * divergence.crowding(share));
    changes.fill(-1);
    top.forEach((i, k) => { changes[i] = (1 + tilt.changes[k]) / share - 1; });
    const reweighting = theta2 * total(base, changes.map((change) => divergence.phi(1 + change)));
    return this.evaluation(Infinity, peak, changes, reweighting, 0, 0);
  }

  // Beyond a pole: any further loss costs the pole's price; a trace of the weight lets every sample escape.
  escaped(beside) {
    const trace = 1e-10;
    const deficit = this.wanted - beside.excess;
    const escape = this.responses.escape((2 * deficit) / (trace * least(this.base)));
    for (let i = 0; i < this.base.length; i++) {
      if (Number.isFinite(escape.cost[i])) continue;
      escape.lift[i] = beside.response.lift[i];
      escape.cost[i] = beside.response.cost[i];
    }
    const changes = beside.changes.map((change) => (1 - trace) * change);
    const price = this.theta1 * this.responses.ceiling;
    return this.evaluation(price, escape, changes, (1 - trace) * beside.reweighting, 0, beside.value);
  }
}

function shareOf(left, right) {
  return right.excess > left.excess ? Math.min(-left.excess / (right.excess - left.excess), 1) : 0;
}

function solve(problem) {
  const { responses, base, risk } = problem;
  const rest = problem.rest();
  let size = Math.max(total(base, responses.losses.map(Math.abs)), Math.abs(risk));
  if (problem.wanted <= ROUNDING * size) return { status: "already", left: rest, right: rest, share: 0, lower: 0 };
  const most = problem.reachable;
  if (Number.isFinite(most)) size = Math.max(size, Math.abs(most));
  if (risk > most + ROUNDING * size) return { status: "unreachable", left: rest, right: rest, share: 0, lower: Infinity };
  if (risk >= most - Math.max(ROUNDING * size, TOLERANCE * (most - problem.current))) return outermost(problem);
  return bracket(problem, rest);
}

function outermost(problem) {
  const point = problem.concentrated();
  const scale = Math.max(point.cost, Number.MIN_VALUE) / problem.wanted;
  const ceiling = problem.theta1 * problem.responses.ceiling;
  let lower = 0;
  for (let k = 0; k < EVALUATIONS && lower < point.cost * (1 - TOLERANCE) && 2 ** k * scale < ceiling; k++) {
    lower = Math.max(lower, problem.evaluate(2 ** k * scale).value);
  }
  return { status: "largest", left: point, right: point, share: 0, lower: Math.min(lower, point.cost) };
}

// Safeguarded Newton on the slope of g, with a model of its jumps where Newton's step is refuted.
function bracket(problem, rest) {
  const status = "attained";
  const ceiling = problem.moves ? problem.theta1 * problem.responses.ceiling : Infinity;
  let left = rest, right = null, price = firstPrice(problem, rest, ceiling);
  let lower = 0, share = 0, last = Infinity, widths = [Infinity, Infinity];
  for (let k = 0; k < EVALUATIONS; k++) {
    const point = problem.evaluate(price);
    if (Math.abs(point.excess) <= 0.1 * TOLERANCE * problem.wanted) {
      return { status, left: point, right: point, share: 0, lower: point.value };
    }
    if (point.excess < 0) left = point;
    else right = point;
    if (right === null) {
      price = outward(point, ceiling);
      if (price <= point.price) {
        right = problem.escaped(point);
        return { status, left, right, share: shareOf(left, right), lower: left.value };
      }
      last = point.excess;
      continue;
    }
    lower = Math.max(left.value, right.value);
    share = shareOf(left, right);
    const upper = (1 - share) * left.cost + share * right.cost;
    const width = right.price - left.price;
    if (upper - lower <= TOLERANCE * upper || width <= 4 * Number.EPSILON * right.price) break;
    const trust = Math.abs(point.excess) <= 0.25 * Math.abs(last);
    widths = [widths[1], width];
    last = point.excess;
    price = inward(problem, left, right, point, trust, width > 0.5 * widths[0] && !trust);
  }
  return { status, left, right: right ?? left, share, lower };
}

// Newton's step from rest; where g has no curvature there, the price at which enough samples have jumped.
function firstPrice(problem, rest, ceiling) {
  let first = problem.theta1;
  if (rest.curvature > 0) first = Math.min(-rest.excess / rest.curvature, 1e60 * problem.theta1);
  else {
    const { lift, cost } = problem.peak;
    const reach = [...lift.keys()].filter((i) => Number.isFinite(lift[i]) && lift[i] > 0);
    reach.sort((a, b) => cost[a] / lift[a] - cost[b] / lift[b]);
    let gained = 0;
    for (const i of reach) {
      first = problem.theta1 * (cost[i] / lift[i]) || problem.theta1;
      gained += problem.base[i] * lift[i];
      if (gained >= problem.wanted) break;
    }
  }
  return first < ceiling ? first : 0.5 * ceiling;
}

function outward(point, ceiling) {
  const newton = point.curvature > 0 ? point.price - point.excess / point.curvature : Infinity;
  const further = Math.min(Math.max(newton, 2 * point.price), STRIDE * point.price);
  if (further < ceiling) return further;
  const closer = ceiling - (ceiling - point.price) / 16;
  return closer < ceiling ? closer : ceiling * (1 - Number.EPSILON / 2);
}

function inward(problem, left, right, point, trust, stalled) {
  let candidate = NaN;
  if (!stalled && trust && point.curvature > 0) {
    const step = -point.excess / point.curvature;
    candidate = point.price + (Math.abs(step) <= 1e-5 * point.price ? 2 * step : step);
  } else if (!stalled) candidate = jump(problem, left, right);
  if (left.price < candidate && candidate < right.price) return candidate;
  if (left.price === 0) return stalled ? right.price / STRIDE : 0.5 * right.price;
  if (right.price > 16 * left.price) return Math.sqrt(left.price * right.price);
  return 0.5 * (left.price + right.price);
}

// Where a model of the risk between two prices meets the threshold: samples jump where their tangents cross.
function jump(problem, left, right) {
  const span = right.price - left.price;
  if (!problem.moves) return left.price - (left.excess * span) / (right.excess - left.excess);
  const jumps = [];
  let heights = 0;
  for (let i = 0; i < problem.base.length; i++) {
    const rise = right.response.lift[i] - left.response.lift[i];
    const smooth = (Math.min(left.response.slope[i], right.response.slope[i]) * span) / problem.theta1;
    if (!(rise > 0 && rise > 2 * smooth)) continue;
    const tie = (problem.theta1 * (right.response.cost[i] - left.response.cost[i])) / rise;
    const mass = problem.base[i] * (1 + 0.5 * (left.changes[i] + right.changes[i]));
    const height = mass * (rise - smooth);
    jumps.push([Math.min(Math.max(tie, left.price), right.price), height]);
    heights += height;
  }
  jumps.sort((a, b) => a[0] - b[0]);
  const growth = Math.max(right.excess - left.excess - heights, 0) / span;
  let behind = left.excess, start = left.price, gained = 0;
  for (const [tie, height] of jumps) {
    gained += height;
    const after = left.excess + growth * (tie - left.price) + gained;
    if (after >= 0) {
      if (after - height > 0) break;
      const beyond = tie * (1 + ASIDE);
      return beyond < right.price ? beyond : tie * (1 - ASIDE);
    }
    behind = after;
    start = tie;
  }
  return growth > 0 ? start - behind / growth : NaN;
}
