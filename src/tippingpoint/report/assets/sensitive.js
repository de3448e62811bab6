// The most sensitive distribution, exactly of risk r, and the numbers that people read, as in
// tippingpoint.core.sensitive. Samples go over from their left to their right response until the risk is r; at most one is split.

function sensitive(problem, solution) {
  const { left, right, share } = solution;
  const { base, theta1 } = problem;
  const n = base.length;
  const changes = share === 0 ? left.changes : left.changes.map((c, i) => (1 - share) * c + share * right.changes[i]);
  const weights = changes.map((change) => 1 + change);
  const part = partOver(problem, solution, changes, weights);
  const lift = new Float64Array(n), cost = new Float64Array(n), moved = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    lift[i] = (1 - part[i]) * left.response.lift[i] + part[i] * right.response.lift[i];
    cost[i] = (1 - part[i]) * left.response.cost[i] + part[i] * right.response.cost[i];
    moved[i] = (left.response.cost[i] > 0 ? 1 - part[i] : 0) + (right.response.cost[i] > 0 ? part[i] : 0);
  }
  const mass = base.map((p, i) => p * weights[i]);
  const reweighting = (1 - share) * left.reweighting + share * right.reweighting;
  const squared = total(mass, cost);
  const moving = problem.moves ? theta1 * squared : 0;
  const positive = weights.map((w) => (w > 0 ? w * Math.log(w) : 0));
  const lost = problem.above.map((above, i) => above + lift[i]);
  const tilted = base.map((p, i) => p * changes[i]);
  return {
    weights, lift, cost, moved, part,
    upper: moving + reweighting,
    corruption_cost: moving,
    reweighting_cost: reweighting,
    corruption_excess: total(base, lift),
    reweighting_excess: total(tilted, lost),
    root_mean_square_move: Math.sqrt(squared),
    moved_share: total(base, moved),
    effective_share: 1 / total(mass, weights),
    effective_sample: 1 / total(mass, mass),
    nats: Math.max(total(base, positive), 0),
  };
}

// How much of every sample goes over to its right response.
function partOver(problem, solution, changes, weights) {
  const { left, right, share } = solution;
  const { base } = problem;
  const part = new Float64Array(base.length);
  const rise = base.map((_, i) => right.response.lift[i] - left.response.lift[i]);
  const height = (i) => base[i] * weights[i] * rise[i];
  const order = [...base.keys()].filter((i) => height(i) > 0);
  const tilted = base.map((p, i) => p * changes[i]);
  const mass = base.map((p, i) => p * weights[i]);
  let wanted = problem.wanted - total(tilted, problem.above) - total(mass, left.response.lift);
  if (!(wanted > 0 && share > 0)) return part;
  const stake = (right.price - left.price) * order.reduce((sum, i) => sum + height(i), 0);
  if (stake > 1e-13 * Math.max(left.cost, right.cost)) {
    const tie = (i) => (right.response.cost[i] - left.response.cost[i]) / rise[i];
    order.sort((a, b) => tie(a) - tie(b) || a - b);
  }
  for (const i of order) {
    part[i] = Math.min(wanted / height(i), 1);
    wanted -= height(i);
    if (wanted <= 0) break;
  }
  return part;
}

// Everything that the page says of one setting.
function answer(responses, base, setting) {
  const problem = new Problem(responses, base, setting);
  const solution = solve(problem);
  const found = sensitive(problem, solution);
  const reached = solution.status !== "unreachable";
  const value = reached ? found.upper : Infinity;
  const lower = Math.min(solution.lower, value);
  return { ...setting, ...found, value, lower, status: solution.status, current: problem.current,
    largest: problem.reachable, problem, solution };
}
