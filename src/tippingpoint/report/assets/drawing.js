// Small pictures and plain words. Text enters the page through textContent only.

const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function plainNumber(value, digits = 4) {
  if (Number.isNaN(value)) return "unknown";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  return String(Number(value.toPrecision(digits)));
}

function percentage(share) {
  return `${plainNumber(100 * share, 3)}%`;
}

// Round numbers that divide an interval into about so many parts.
function ticks(low, high, most = 5) {
  const span = high - low;
  if (!(span > 0 && Number.isFinite(span))) return [low];
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough * (1 - 1e-9));
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k <= Math.floor(high / step + 1e-9); k++) found.push(k * step);
  return found;
}

function pathOf(points) {
  return `M${points.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L")}`;
}

// A curve with a dot: points are [at, value], the dot is one such pair.
function lineChart(place, points, dot, { label, form, ends, axis }) {
  const width = 360, height = 250, left = 52, right = 14, top = 12, bottom = 44;
  const shown = points.filter(([, value]) => Number.isFinite(value));
  place.replaceChildren();
  if (shown.length < 2) {
    place.append(element("p", { class: "quiet" }, "No setting along this line gets there."));
    return;
  }
  const low = points[0][0], high = points[points.length - 1][0];
  const values = shown.map(([, value]) => value).concat(Number.isFinite(dot[1]) ? [dot[1]] : []);
  const most = 1.05 * Math.max(...values) || 1;
  const x = (at) => left + ((width - left - right) * (at - low)) / (high - low);
  const y = (value) => height - bottom - (height - top - bottom) * Math.min(value / most, 1);
  const picture = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const value of ticks(0, most)) {
    picture.append(shape("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "grid" }));
    picture.append(shape("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end", class: "tick" }, plainNumber(value, 3)));
  }
  const foot = height - bottom + 17;
  if (ends) {
    picture.append(shape("text", { x: left, y: foot, "text-anchor": "start", class: "tick" }, ends[0]));
    picture.append(shape("text", { x: width - right, y: foot, "text-anchor": "end", class: "tick" }, ends[1]));
  } else {
    for (const at of ticks(low, high, 4)) {
      picture.append(shape("text", { x: x(at), y: foot, "text-anchor": "middle", class: "tick" }, form(at)));
    }
  }
  picture.append(shape("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle", class: "tick" }, axis));
  picture.append(shape("path", { d: pathOf(shown.map(([at, value]) => [x(at), y(value)])), class: "curve" }));
  if (Number.isFinite(dot[1]) && dot[0] >= low && dot[0] <= high) {
    picture.append(shape("circle", { cx: x(dot[0]), cy: y(dot[1]), r: 5, class: "own" }));
  }
  place.append(picture);
}

// The heaviest part of the rows against the part of the weight that it has.
function weightChart(place, base, weights) {
  const size = 250, edge = 44, inner = size - edge - 12;
  const at = (rows, weight) => [edge + inner * rows, size - edge - inner * weight];
  const order = [...base.keys()].sort((a, b) => weights[b] - weights[a]);
  const points = [at(0, 0)];
  let rows = 0, weight = 0, next = 0;
  for (const i of order) {
    rows += base[i];
    weight += base[i] * weights[i];
    if (rows >= next || rows > 1 - 1e-9) {
      points.push(at(Math.min(rows, 1), Math.min(weight, 1)));
      next = rows + 0.01;
    }
  }
  const label = "The heaviest part of the rows against the part of the weight that it has";
  const picture = shape("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label });
  picture.append(shape("path", { d: `${pathOf([at(0, 0), at(1, 0), at(1, 1), at(0, 1)])}Z`, class: "frame" }));
  picture.append(shape("path", { d: `${pathOf([...points, at(1, 0)])}Z`, class: "band" }));
  picture.append(shape("path", { d: pathOf([at(0, 0), at(1, 1)]), class: "even" }));
  picture.append(shape("path", { d: pathOf(points), class: "curve" }));
  for (const part of [0, 0.5, 1]) {
    const anchor = part === 1 ? "end" : "middle";
    picture.append(shape("text", { x: at(part, 0)[0], y: at(0, 0)[1] + 16, "text-anchor": anchor, class: "tick" }, percentage(part)));
    if (part) picture.append(shape("text", { x: edge - 6, y: at(0, part)[1] + 4, "text-anchor": "end", class: "tick" }, percentage(part)));
  }
  picture.append(shape("text", { x: edge + inner / 2, y: size - 8, "text-anchor": "middle", class: "tick" }, "rows, the heaviest first"));
  place.replaceChildren(picture);
}

// Two parts of a whole, in words.
function splitInWords(key, moving, reweighting, form) {
  const place = document.getElementById(`live-${key}`);
  const whole = Math.max(moving, 0) + Math.max(reweighting, 0);
  const share = whole > 0 ? Math.max(moving, 0) / whole : 0;
  place.dataset.moving = moving;
  place.dataset.reweighting = reweighting;
  place.textContent = whole > 0
    ? `${form(moving)} moving (${percentage(share)}) + ${form(reweighting)} reweighting (${percentage(1 - share)})`
    : "nothing";
}

// One kind of change without the other, always with its price, as tippingpoint.report.wording.alone.
function aloneInWords(kind, price) {
  return `${kind} alone (θ${kind === "moving" ? 1 : 2} = ${plainNumber(price)})`;
}

// A standing as a badge, as tippingpoint.report.badges.badge.
function showBadge(place, name) {
  place.textContent = name;
  place.className = `badge ${name.replaceAll(" ", "-")}`;
}
