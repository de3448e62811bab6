// Best responses e_i(λ) = max_z λ·loss(z) - cost(z), from what the page holds, as in tippingpoint.families.
// All arrays are Float64Array, one number a sample. Losses are given as the lift above the sample's own.

function unpacked(packed) {
  if (packed.as === "same") return new Float64Array(packed.length).fill(packed.value);
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  if (packed.as === "u1") return Float64Array.from(bytes);
  const view = new DataView(bytes.buffer);
  const size = packed.as === "f4" ? 4 : 8;
  const read = size === 4 ? (at) => view.getFloat32(at, true) : (at) => view.getFloat64(at, true);
  const numbers = new Float64Array(bytes.length / size);
  for (let k = 0; k < numbers.length; k++) numbers[k] = read(k * size);
  return numbers;
}

function nobody(n) {
  return { lift: new Float64Array(n), cost: new Float64Array(n), slope: new Float64Array(n) };
}

// Finitely many places a sample: on each envelope a place is best from the price at which it beats the one before it.
class Atoms {
  constructor(held) {
    this.losses = unpacked(held.losses);
    this.ceiling = Infinity;
    const n = this.losses.length;
    const count = unpacked(held.count);
    this.lifts = unpacked(held.lift);
    this.costs = unpacked(held.cost);
    this.first = new Uint32Array(n + 1);
    for (let i = 0; i < n; i++) this.first[i + 1] = this.first[i] + count[i];
    this.from = new Float64Array(this.lifts.length);
    for (let i = 0; i < n; i++) {
      for (let k = this.first[i], lift = 0, cost = 0; k < this.first[i + 1]; k++) {
        this.from[k] = (this.costs[k] - cost) / (this.lifts[k] - lift);
        lift = this.lifts[k];
        cost = this.costs[k];
      }
    }
  }

  // Which place a sample is at: -1 where it stays.
  chosen(price, i) {
    let k = this.first[i];
    while (k < this.first[i + 1] && this.from[k] < price) k++;
    return k === this.first[i] ? -1 : k - 1;
  }

  respond(price) {
    const n = this.losses.length;
    const found = nobody(n);
    for (let i = 0; i < n; i++) {
      const k = this.chosen(price, i);
      if (k >= 0) {
        found.lift[i] = this.lifts[k];
        found.cost[i] = this.costs[k];
      }
    }
    return found;
  }

  peak() {
    return this.respond(Infinity);
  }
}

function logistic(v) {
  return 1 / (1 + Math.exp(-v));
}

function softplus(v) {
  return Math.max(v, 0) + Math.log1p(Math.exp(-Math.abs(v)));
}

// A root of κ·σ(t - m) = t on one side of m, from which Newton's steps are monotone; NaN where there is none.
function fixedPoint(start, side, scale, margin) {
  if (!(side * (start - margin) >= 0)) return NaN;
  let t = start;
  for (let step = 0; step < 80; step++) {
    const sigma = logistic(t - margin);
    const apart = scale * sigma - t;
    const tangent = scale * sigma * (1 - sigma) - 1;
    const after = tangent < 0 ? t - apart / tangent : NaN;
    if (!(side * (after - margin) >= 0)) return NaN;
    if (Math.abs(after - t) <= 1e-14 * Math.abs(t) || Math.abs(apart) <= 1e-14 * Math.abs(t)) return after;
    t = after;
  }
  return t;
}

// Losses f(v): value, lift f(v + t) - f(v) without cancellation, slope, curvature, and the pushes t that can be best at a price
// when shifting the score by t costs t²/B.
const LOSSES = {
  logistic: () => ({
    value: softplus,
    lift: (v, t) => (t <= 1 ? Math.log1p(logistic(v) * Math.expm1(t)) : softplus(v + t) - softplus(v)),
    slope: logistic,
    curvature: (v) => logistic(v) * logistic(-v),
    pushes: (price, v, b) => {
      const scale = 0.5 * price * b;
      return [fixedPoint(0, -1, scale, -v), fixedPoint(scale, 1, scale, -v)];
    },
    rises: true,
    pole: false,
  }),
  pieces: ({ slopes, offsets }) => {
    const value = (v) => {
      let best = -Infinity;
      for (let k = 0; k < slopes.length; k++) best = Math.max(best, slopes[k] * v + offsets[k]);
      return best;
    };
    return {
      value,
      lift: (v, t) => {
        const now = value(v);
        let best = -Infinity;
        for (let k = 0; k < slopes.length; k++) best = Math.max(best, slopes[k] * t + (slopes[k] * v + offsets[k] - now));
        return best;
      },
      slope: (v) => {
        const now = value(v);
        let steepest = -Infinity;
        for (let k = 0; k < slopes.length; k++) {
          if (slopes[k] * v + offsets[k] >= now) steepest = Math.max(steepest, slopes[k]);
        }
        return steepest;
      },
      curvature: () => 0,
      pushes: (price, v, b) => slopes.filter((a) => a > 0).map((a) => 0.5 * price * a * b),
      rises: slopes.some((a) => a > 0),
      pole: false,
    };
  },
  squared: () => ({
    value: (v) => v * v,
    lift: (v, t) => t * (2 * v + t),
    slope: (v) => 2 * v,
    curvature: () => 2,
    pushes: (price, v, b) => [meets(price, v, b)],
    root: (v) => v,
    rises: true,
    pole: true,
  }),
  squared_hinge: () => ({
    value: (v) => Math.max(1 + v, 0) ** 2,
    lift: (v, t) => (1 + v >= 0 ? t * (2 * (1 + v) + t) : Math.max(1 + v + t, 0) ** 2),
    slope: (v) => 2 * Math.max(1 + v, 0),
    curvature: (v) => (1 + v >= 0 ? 2 : 0),
    pushes: (price, v, b) => [meets(price, 1 + v, b)],
    root: (v) => 1 + v,
    rises: true,
    pole: true,
  }),
  huber: ({ delta }) => {
    const value = (v) => {
      const clipped = Math.min(Math.abs(v), delta);
      return clipped * (Math.abs(v) - 0.5 * clipped);
    };
    return {
      value,
      lift: (v, t) => {
        if (Math.max(Math.abs(v), Math.abs(v + t)) <= delta) return t * (v + 0.5 * t);
        return v >= delta ? delta * t : value(v + t) - value(v);
      },
      slope: (v) => Math.min(Math.max(v, -delta), delta),
      curvature: (v) => (Math.abs(v) < delta ? 1 : 0),
      pushes: (price, v, b) => [meets(0.5 * price, v, b), 0.5 * price * delta * b],
      rises: true,
      pole: false,
    };
  },
};

// The push at which price·(offset + t) = t/B: where a quadratic gain is best.
function meets(price, offset, b) {
  const room = 1 - price * b;
  return offset >= 0 && room > 0 ? (b * price * offset) / room : NaN;
}

// A linear score whose features move freely: the loss is f(v), and shifting the score by t costs t²/B.
class Line {
  constructor(held) {
    this.b = held.compliance;
    this.sides = held.sides.map((side) => ({ loss: LOSSES[side.loss.kind](side.loss), v: unpacked(side.v) }));
    const { loss, v } = this.sides[0];
    this.losses = v.map(loss.value);
    this.ceiling = this.b > 0 && loss.pole ? 1 / this.b : Infinity;
  }

  respond(price) {
    const n = this.losses.length;
    const found = nobody(n);
    found.push = new Float64Array(n);
    found.side = new Uint8Array(n);
    for (let k = 0; k < this.sides.length; k++) {
      const { loss, v } = this.sides[k];
      for (let i = 0; i < n; i++) {
        if (price === 0) {
          found.slope[i] = Math.max(found.slope[i], 0.5 * Math.max(loss.slope(v[i]), 0) ** 2 * this.b);
          continue;
        }
        let gain = price * found.lift[i] - found.cost[i];
        for (const t of loss.pushes(price, v[i], this.b)) {
          const lift = loss.lift(v[i], t);
          const cost = (t * t) / this.b;
          if (!(price * lift - cost > gain)) continue;
          gain = price * lift - cost;
          found.lift[i] = lift;
          found.cost[i] = cost;
          found.push[i] = t;
          found.side[i] = k;
          const steep = ((2 / price) * t) / this.b;
          const stiff = 2 - price * this.b * loss.curvature(v[i] + t);
          found.slope[i] = stiff > 0 ? (steep * steep * this.b) / stiff : 0;
        }
      }
    }
    return found;
  }

  peak() {
    const found = nobody(this.losses.length);
    if (this.b > 0 && this.sides.some((side) => side.loss.rises)) {
      found.lift.fill(Infinity);
      found.cost.fill(Infinity);
    }
    return found;
  }

  // Beyond the pole any lift costs the pole's price; 1e10 times as far as what is lost on the way is near enough.
  escape(lift) {
    const n = this.losses.length;
    const found = nobody(n);
    found.push = new Float64Array(n);
    found.side = new Uint8Array(n);
    found.cost.fill(Infinity);
    for (let k = 0; k < this.sides.length; k++) {
      const { loss, v } = this.sides[k];
      for (let i = 0; i < n; i++) {
        const t = Math.sqrt(lift) + 1e10 * Math.abs(loss.root(v[i]));
        const here = loss.lift(v[i], t);
        const cost = (t * t) / this.b;
        if (!(cost * found.lift[i] < found.cost[i] * here)) continue;
        found.lift[i] = here;
        found.cost[i] = cost;
        found.push[i] = t;
        found.side[i] = k;
      }
    }
    return found;
  }
}

// Responses of which a question costs no more than in truth; null where nothing is proved from below.
function floorsOf({ losses, floor }) {
  if (!floor) return null;
  const count = unpacked(floor.count);
  const errors = count.reduce((sum, each) => sum + each, 0);
  return new Atoms({ losses, count: floor.count, lift: { as: "same", value: 1, length: errors }, cost: floor.cost });
}

function responsesOf(held) {
  return held.kind === "line" ? new Line(held) : new Atoms(held);
}
