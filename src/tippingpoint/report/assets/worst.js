// The largest risk that a change of a cost reaches: min over h of (cost + Ψ)/h, with the mixture of two perturbations that
// reaches it, as in tippingpoint.core.worst. Risks are measured from the present one.

const LEAST_PRICE = 2 ** -200;

function worst(responses, base, setting, cost) {
  const problem = new Problem(responses, base, { ...setting, risk: 0 });
  Object.assign(problem, { risk: problem.current, wanted: 0 });
  const told = (status, rise, spent) => ({ status, cost, spent, rise, value: problem.current + rise, current: problem.current });
  if (cost === 0) {
    const { excess } = problem.evaluate(LEAST_PRICE * Math.min(problem.theta1, problem.theta2));
    const free = excess > Math.sqrt(LEAST_PRICE) * total(base, responses.losses.map(Math.abs)) ? excess : 0;
    return told("attained", free, 0);
  }
  if (Number.isFinite(problem.reachable)) {
    const most = problem.concentrated();
    if (cost >= most.cost * (1 - TOLERANCE)) return told("largest", Math.max(most.excess, 0), most.cost);
  }
  return told("attained", closedIn(problem, cost), cost);
}

function closedIn(problem, cost) {
  const ceiling = problem.moves ? problem.theta1 * problem.responses.ceiling : Infinity;
  const above = ({ value, price }) => (price > 0 ? (cost - value) / price : Infinity);
  let left = problem.rest(), right = null, last = null, widths = [Infinity, Infinity], chords = false, rise = 0;
  let price = left.curvature > 0 ? Math.sqrt((2 * cost) / left.curvature) : Math.min(problem.theta1, problem.theta2);
  if (!(price < ceiling)) price = 0.5 * ceiling;
  for (let k = 0; k < EVALUATIONS; k++) {
    const point = problem.evaluate(price);
    if (point.cost < cost) left = point;
    else right = point;
    if (right === null) {
      rise = point.excess;
      price = further(point, cost, ceiling);
      if (price <= point.price) return rise + (cost - point.cost) / ceiling; // any further loss costs the ceiling's price
      if (above(point) - rise <= TOLERANCE * above(point)) return rise;
      last = point;
      continue;
    }
    rise = left.excess + ((right.excess - left.excess) * (cost - left.cost)) / (right.cost - left.cost);
    const most = Math.min(above(left), above(right)), width = right.price - left.price;
    const loose = Math.max(TOLERANCE, Math.min((1e-15 * right.excess) / rise, 1e-10));
    if (most - rise <= loose * most || width <= 4 * Number.EPSILON * right.price) break;
    const climb = last === null ? NaN : (point.excess - last.excess) / (point.price - last.price);
    const smooth = point.curvature > 0 && point.curvature >= 0.9 * climb;
    chords = !chords && width > 0.25 * widths[0];
    price = between(left, right, point, cost, smooth, chords);
    widths = [widths[1], width];
    last = point;
  }
  return rise;
}

// Newton's step on the square root of the cost, which is nearly linear in the price.
function rootStep(point, cost) {
  if (!(point.curvature > 0 && point.cost > 0)) return -Infinity;
  const root = Math.sqrt(point.cost);
  return point.price + ((Math.sqrt(cost) - root) * 2 * root) / (point.price * point.curvature);
}

function further(point, cost, ceiling) {
  const out = Math.min(Math.max(1.1 * rootStep(point, cost), 2 * point.price), STRIDE * point.price);
  if (out < ceiling) return out;
  const closer = ceiling - (ceiling - point.price) / 16;
  return closer < ceiling ? closer : ceiling * (1 - Number.EPSILON / 2);
}

// Where Newton's step or a line through the roots of the costs meets the cost; else the slope of the chord.
function between(left, right, point, cost, smooth, chords) {
  const inside = (price) => left.price < price && price < right.price;
  const [here, there, wanted] = [left.cost, right.cost, cost].map(Math.sqrt);
  const line = left.price + ((right.price - left.price) * (wanted - here)) / (there - here);
  const step = chords ? NaN : smooth ? rootStep(point, cost) : line;
  if (inside(step)) return step;
  const chord = (right.cost - left.cost) / (right.excess - left.excess);
  return inside(chord) ? chord : 0.5 * (left.price + right.price);
}
