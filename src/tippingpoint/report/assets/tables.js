// The rows that add most to the risk at the setting chosen, of those whose features the page holds.

const { shown: MAX_SHOWN, named: MAX_NAMED, roundOff: WHOLE_ROUND_OFF, digits: DIGITS, further: FURTHER_DIGITS } = SHARED.rows;
const { context: CONTEXT, pairs: MAX_PAIRS, words: MIN_WORDS } = SHARED.rows;

// Edits of a text, word by word, as in tippingpoint.report.edits.
function wordsOf(value) {
  return value.split(/[ \t\n\r\f\v]+/).filter((word) => word);
}

function isText(...values) {
  return values.every((value) => typeof value === "string" && wordsOf(value).length >= MIN_WORDS);
}

function middleOf(one, two) {
  if (one.length * two.length > MAX_PAIRS) return [...one.map((word) => ["-", word]), ...two.map((word) => ["+", word])];
  const common = Array.from({ length: one.length + 1 }, () => new Uint32Array(two.length + 1));
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = two.length - 1; j >= 0; j--) {
      common[i][j] = one[i] === two[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const steps = [];
  for (let i = 0, j = 0; i < one.length || j < two.length;) {
    if (i < one.length && j < two.length && one[i] === two[j]) { steps.push(["=", one[i]]); i++; j++; }
    else if (j === two.length || (i < one.length && common[i + 1][j] >= common[i][j + 1])) steps.push(["-", one[i++]]);
    else steps.push(["+", two[j++]]);
  }
  return steps;
}

function editsOf(before, after) {
  const one = wordsOf(before), two = wordsOf(after), least = Math.min(one.length, two.length);
  let start = 0, end = 0;
  while (start < least && one[start] === two[start]) start++;
  while (end < least - start && one[one.length - 1 - end] === two[two.length - 1 - end]) end++;
  const kept = (words) => words.map((word) => ["=", word]);
  const middle = middleOf(one.slice(start, one.length - end), two.slice(start, two.length - end));
  const runs = [];
  for (const [kind, word] of [...kept(one.slice(0, start)), ...middle, ...kept(one.slice(one.length - end))]) {
    if (!runs.length || runs[runs.length - 1][0] !== kind) runs.push([kind, []]);
    runs[runs.length - 1][1].push(word);
  }
  return runs.map(([kind, words], k) => {
    const head = k === 0 ? 0 : CONTEXT, tail = k === runs.length - 1 ? 0 : CONTEXT;
    const long = kind === "=" && words.length > head + tail + 1;
    return [kind, long ? [...words.slice(0, head), "…", ...words.slice(words.length - tail)] : words];
  });
}

function editedText(before, after) {
  const made = [];
  for (const [kind, words] of editsOf(before, after)) {
    if (made.length) made.push(" ");
    made.push(kind === "=" ? words.join(" ") : element(kind === "-" ? "del" : "ins", {}, words.join(" ")));
  }
  return made;
}

// What every sample adds to the risk: p (w·loss then - loss now).
function additions(base, losses, found) {
  return base.map((p, i) => p * (found.weights[i] * (losses[i] + found.lift[i]) - losses[i]));
}

// The response of a sample that costs more: where it goes if it goes anywhere.
function sideOf(found, i) {
  const { left, right } = found.solution;
  const over = found.part[i] > 0 && right.response.cost[i] >= left.response.cost[i];
  return over ? right : left;
}

// Changed cells, as [column, value], and whether they are those of the very place or of the nearest one stored.
function changedCells(held, responses, found, k) {
  const i = held.positions[k];
  const side = sideOf(found, i);
  if (!(side.response.cost[i] > 0)) return { cells: [], exact: true };
  if (held.step) {
    const push = side.response.push[i] * held.step.direction[side.response.side[i]][k];
    const cells = held.step.columns.map((j, c) => [j, held.before[k][j] + push * held.step.unit[c]]);
    return { cells: cells.filter(([j, value]) => value !== held.before[k][j]), exact: true };
  }
  const wanted = responses.chosen(side.price / found.theta1, i) - responses.first[i] + 1;
  const stored = held.places[k];
  if (!stored.length) return { cells: [], exact: false };
  const nearest = stored.reduce((a, b) => (Math.abs(b[0] - wanted) < Math.abs(a[0] - wanted) ? b : a));
  return { cells: nearest[1], exact: nearest[0] === wanted };
}

// A value with the digits that its column has: this and the next two as in tippingpoint.report.changes.
function cellText(value, holds, more = 0) {
  if (value === null) return "missing";
  if (typeof value !== "number") return value;
  if (!holds || holds.decimals === null) return plainNumber(value, Number.isInteger(value) ? 15 : (holds ? holds.digits : DIGITS) + more);
  return String(Number(value.toFixed(holds.decimals)) + 0);
}

function isBroken(then, holds) {
  return Boolean(holds && holds.whole && typeof then === "number" && Math.abs(then - Math.round(then)) > WHOLE_ROUND_OFF);
}

// A value before and after a change, and what makes that doubtful.
function changeTexts(now, then, holds) {
  let before = cellText(now, holds), after = cellText(then, holds);
  if (before === after && (!holds || holds.decimals === null)) [before, after] = [cellText(now, holds, FURTHER_DIGITS), cellText(then, holds, FURTHER_DIGITS)];
  const broken = isBroken(then, holds), doubts = [];
  if (broken) {
    after = `≈${after}`;
    doubts.push(`${plainNumber(then, 5)}, not a whole number`);
  } else if (before === after && typeof now === "number" && typeof then === "number" && now !== then) {
    after = `just ${then > now ? "above" : "below"} ${before}`;
  }
  if (holds && typeof then === "number" && !(holds.within[0] <= then && then <= holds.within[1])) {
    const [low, high] = holds.range.map((end) => cellText(end, holds));
    doubts.push(`outside the data (${low} to ${high})`);
  }
  return { before, after, doubt: doubts.length ? `⚠ ${doubts.join("; ")}` : "", edited: isText(now, then) };
}

function afterCell({ before, after, doubt, edited }) {
  if (edited) return editedText(before, after);
  const made = [element("mark", {}, after)];
  if (doubt) made.push(element("span", { class: "doubt" }, ` ${doubt}`));
  return made;
}

function sizeOf(held, k, [j, then]) {
  const now = held.before[k][j];
  return typeof now === "number" && typeof then === "number" && held.spread[j] > 0 ? Math.abs(then - now) / held.spread[j] : 1;
}

function changesOf(held, k, { cells, exact }) {
  const made = document.createDocumentFragment();
  const largestFirst = [...cells].sort((a, b) => sizeOf(held, k, b) - sizeOf(held, k, a) || a[0] - b[0]);
  const texts = new Map(largestFirst.map(([j, then]) => [j, changeTexts(held.before[k][j], then, held.holds[j])]));
  for (const [j] of largestFirst.slice(0, MAX_NAMED)) {
    const edited = texts.get(j).edited;
    const opening = edited ? `${held.columns[j]}: ` : `${held.columns[j]} ${texts.get(j).before} → `;
    made.append(element("span", { class: edited ? "change text" : "change" }, opening, ...afterCell(texts.get(j))));
  }
  const hidden = largestFirst.slice(MAX_NAMED).filter(([j]) => texts.get(j).doubt).length;
  if (hidden) {
    const further = `⚠ ${hidden} further ${hidden === 1 ? "change" : "changes"} may be impossible`;
    made.append(element("span", { class: "change doubt" }, further));
  }
  if (!exact) made.append(element("span", { class: "quiet" }, "(nearest place that this page holds)"));
  const body = element("tbody");
  held.columns.forEach((name, j) => {
    const now = texts.has(j) ? texts.get(j).before : cellText(held.before[k][j], held.holds[j]);
    const then = texts.has(j) ? afterCell(texts.get(j)) : [now];
    body.append(element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, now), element("td", {}, ...then)));
  });
  const head = element("tr", {}, ...SHARED.rows.whole.map((name) => element("th", { scope: "col" }, name)));
  const table = element("table", {}, element("caption", {}, `Row ${held.labels[k]}, now and then`), element("thead", {}, head), body);
  made.append(element("details", {}, element("summary", {}, `all ${held.columns.length} features`), table));
  return made;
}

function showRows(place, note, counts, held, responses, base, found, form) {
  const adds = additions(base, responses.losses, found);
  const rise = adds.reduce((sum, each) => sum + each, 0);
  const stored = held.positions.map((i, k) => [adds[i], k]).filter(([each]) => each > 1e-12 * Math.abs(rise));
  stored.sort((a, b) => b[0] - a[0] || held.positions[a[1]] - held.positions[b[1]]);
  const bar = stored.length ? stored[Math.min(MAX_SHOWN, stored.length) - 1][0] : 0;
  const positions = new Set(held.positions);
  let missed = 0;
  adds.forEach((each, i) => { if (!positions.has(i) && each > bar * (1 + 1e-9) && each > 0) missed++; });
  note.textContent = missed && found.status !== "already"
    ? `${counts} At this setting ${missed.toLocaleString("en")} other rows add more than the last one shown.` : counts;
  const rows = stored.slice(0, MAX_SHOWN).map(([each, k]) => {
    const i = held.positions[k];
    const side = sideOf(found, i);
    const moved = found.moved[i] > 0 && found.moved[i] < 1 ? `; ${percentage(found.moved[i])} of it moves` : "";
    const changed = changedCells(held, responses, found, k);
    const row = element("tr", {}, element("th", { scope: "row" }, held.labels[k]));
    row.dataset.weight = found.weights[i];
    row.dataset.cost = side.response.cost[i];
    row.dataset.adds = each / rise;
    row.append(
      element("td", { class: "number" }, `${plainNumber(found.weights[i], 3)}×${moved}`),
      element("td", { class: "number" }, `${form(responses.losses[i])} → ${form(responses.losses[i] + side.response.lift[i])}`),
      element("td", { class: "number" }, plainNumber(side.response.cost[i], 3)),
      element("td", { class: "number" }, percentage(each / rise)),
      element("td", {}, changed.cells.length || !changed.exact ? changesOf(held, k, changed) : SHARED.rows.stays),
    );
    return row;
  });
  if (!rows.length || found.status === "unreachable" || found.status === "not_found" || found.status === "already") {
    place.replaceChildren(element("p", { class: "quiet" }, "No row has to change, or none can change enough, at this setting."));
    return;
  }
  const numbers = new Set([1, 2, 3, 4]);
  const head = SHARED.rows.head.map((name, k) => element("th", numbers.has(k) ? { scope: "col", class: "number" } : { scope: "col" }, name));
  const { caption } = SHARED.rows;
  const table = element("table", { class: "rows" }, element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
  place.replaceChildren(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table));
}
