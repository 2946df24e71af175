"use strict";
// The explorer of a run. All texts are set as text, never as markup; nothing is fetched.

// ---- Voting: the rules of judgenet.stats.whatif.verdict_codes. Codes: 0 none, 1 A, 2 tie, 3 B.
const TOLERANCE = 1e-9;

function codeOf(lead, there) {
  if (!there) return 0;
  return lead > TOLERANCE ? 1 : lead < -TOLERANCE ? 3 : 2;
}

// The calls of finished pairs: differences (A minus B, NaN where a call is not valid) and asked (1 where there was a
// call), both of shape (pairs, neurons, 2 orders, samples); layers has the layer of each neuron.
// choice: {depth, width, orders: [0, 1], samples}. Returns the verdict of each pair, and the mean number of calls.
function subnetwork(calls, choice, rules, rule) {
  const { layers, samples, pairs } = calls;
  const kept = [];
  let last = 0;
  layers.forEach((layer, place) => {
    if (layer < choice.depth || (layer === choice.depth && last++ < choice.width)) kept.push(place);
  });
  const deepest = Math.max(...kept.map((place) => layers[place]));
  const codes = new Uint8Array(pairs);
  let asked = 0;
  for (let pair = 0; pair < pairs; pair++) {
    let total = 0, used = 0, a = 0, b = 0, tie = 0, answered = 0, deep = 0;
    for (const neuron of kept) {
      let sum = 0, valid = 0, forA = 0, forB = 0;
      for (const order of choice.orders) {
        for (let sample = 0; sample < choice.samples; sample++) {
          const at = ((pair * layers.length + neuron) * 2 + order) * samples + sample;
          asked += calls.asked[at];
          const difference = calls.differences[at];
          if (Number.isNaN(difference)) continue;
          valid++;
          sum += difference;
          if (difference > TOLERANCE) forA++;
          else if (difference < -TOLERANCE) forB++;
        }
      }
      total += sum;
      used += valid;
      if (valid) answered++;
      if (valid && layers[neuron] === deepest) deep++;
      if (rule === "c2_last" && layers[neuron] !== deepest) continue;
      if (rules.vote === "call") {
        a += forA;
        b += forB;
        tie += valid - forA - forB;
      } else if (valid) {
        const said = codeOf(sum, true);
        if (said === 1) a++;
        else if (said === 3) b++;
        else tie++;
      }
    }
    // Fewer neurons with a valid answer than the quorum: no verdict.
    if (rules.quorum && (rule === "c2_last" ? deep : answered) < rules.quorum) continue;
    const average = codeOf(total, used > 0);
    if (rule === "c1") {
      codes[pair] = average;
      continue;
    }
    let code = codeOf(a - b, a + b + tie > 0);
    const most = Math.max(a, b);
    if (code === 2 || (rules.ties === "candidate" && tie === most && tie > 0)) code = rules.fallback === "c1" ? average : 2;
    if (rules.ties === "candidate" && tie > most) code = 2;
    codes[pair] = code;
  }
  return { codes, calls: pairs ? asked / pairs : 0 };
}

// Accuracy over the pairs with a verdict and a label, with Wilson's interval (as judgenet.stats.intervals.wilson).
function accuracyOf(codes, human) {
  let n = 0, right = 0;
  for (let pair = 0; pair < codes.length; pair++) {
    if (codes[pair] && human[pair]) {
      n++;
      if (codes[pair] === human[pair]) right++;
    }
  }
  if (!n) return { n, right, value: null, low: null, high: null };
  const z = 1.959963984540054, p = right / n, square = z * z / n;
  const middle = (p + square / 2) / (1 + square);
  const half = z * Math.sqrt(p * (1 - p) / n + square / (4 * n)) / (1 + square);
  return { n, right, value: p, low: right ? middle - half : 0, high: right < n ? middle + half : 1 };
}

// ---- Data
async function unpacked(id) {
  const packed = atob(document.getElementById(`data-${id}`).textContent);
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new DecompressionStream("gzip"), writer = stream.writable.getWriter(), reader = stream.readable.getReader();
  writer.write(bytes);
  writer.close();
  const parts = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    size += part.value.length;
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole.buffer;
}

async function json(id) {
  return JSON.parse(new TextDecoder().decode(await unpacked(id)));
}

// ---- Page
function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// Code 4 is a pair whose verdict is left to people: no verdict, and none that is missing. Code 5 is a pair without a
// verdict because too few neurons have a valid answer.
const PEOPLE = 4, NO_QUORUM = 5;
const LETTER = ["–", "A", "Tie", "B", "P", "–"];
const CLASS = ["none", "a", "tie", "b", "none", "none"];
const count = (n) => n.toLocaleString("en-US");
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
const percent = (share) => (100 * share).toFixed(1);

function chip(code) {
  const made = element("span", `chip ${CLASS[code]}`, LETTER[code] === "Tie" ? "=" : LETTER[code]);
  made.title = ["no verdict", "A", "tie", "B", "for people", "no quorum"][code];
  made.setAttribute("aria-label", made.title);
  return made;
}

class Explorer {
  constructor(head, arrays) {
    this.head = head;
    this.arrays = arrays;
    this.calls = { ...arrays, layers: head.layers, samples: head.samples, pairs: arrays.done.length };
    this.chunks = new Map();
    this.shown = [];
    this.at = 0;
    this.tried = null;
    this.own = null;
    this.searched = null;
    this.search = 0;
    this.list = document.getElementById("list");
    this.rows = document.getElementById("rows");
    this.detail = document.getElementById("detail");
  }

  start() {
    this.fillFilters();
    this.fillWhatIf();
    for (const id of ["aggregation", "verdict", "people", "task", "which"]) {
      document.getElementById(id).addEventListener("change", () => this.filter());
    }
    document.getElementById("words").addEventListener("input", () => this.find());
    this.list.addEventListener("scroll", () => this.draw());
    this.list.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("resize", () => this.draw());
    this.filter();
    // A link to a pair: explorer.html#pair=ID
    const linked = this.head.ids.indexOf(decodeURIComponent(location.hash.replace(/^#pair=/, "")));
    if (linked >= 0) this.open(linked);
  }

  // Filters
  option(select, value, text) {
    const made = element("option", "", text);
    made.value = value;
    document.getElementById(select).append(made);
  }

  fillFilters() {
    this.head.aggregations.forEach((of, place) => this.option("aggregation", place, of.title));
    document.getElementById("aggregation").value = String(this.head.decides);
    this.head.tasks.forEach((task, place) => this.option("task", place, task === null ? "no task" : task));
    if (this.arrays.verdicts.includes(PEOPLE)) this.option("verdict", PEOPLE, "for people");
    if (this.arrays.verdicts.includes(NO_QUORUM)) this.option("verdict", NO_QUORUM, "no quorum");
    document.getElementById("task").parentElement.hidden = this.head.tasks.length < 2;
  }

  chosen(id) {
    const value = document.getElementById(id).value;
    return value === "" ? null : Number(value);
  }

  verdicts() {
    const size = this.head.pairs;
    const from = (this.chosen("aggregation") ?? this.head.decides) * size;
    return this.arrays.verdicts.subarray(from, from + size);
  }

  filter() {
    const verdicts = this.verdicts(), { human, task } = this.arrays;
    const verdict = this.chosen("verdict"), people = this.chosen("people"), of = this.chosen("task");
    const which = document.getElementById("which").value;
    const changed = which === "changed" ? this.changed() : null;
    this.shown = [];
    for (let pair = 0; pair < this.head.pairs; pair++) {
      if (verdict !== null && verdicts[pair] !== verdict) continue;
      if (people !== null && human[pair] !== people) continue;
      if (of !== null && task[pair] !== of) continue;
      if (which === "wrong" && !(human[pair] && verdicts[pair] && verdicts[pair] < PEOPLE && human[pair] !== verdicts[pair])) continue;
      if (which === "right" && !(human[pair] && human[pair] === verdicts[pair])) continue;
      if (which === "orders" && !this.arrays.flipped[pair]) continue;
      if (which === "unscored" && !this.arrays.unscored[pair]) continue;
      if (changed && !changed.has(pair)) continue;
      if (this.searched && !this.searched.has(pair)) continue;
      this.shown.push(pair);
    }
    document.getElementById("found").textContent = `${count(this.shown.length)} of ${plural(this.head.pairs, "pair")}`;
    this.open(0);
  }

  async find() {
    const words = document.getElementById("words").value.trim().toLowerCase();
    const mine = ++this.search;
    if (!words) {
      this.searched = null;
      this.filter();
      return;
    }
    const found = new Set();
    for (let chunk = 0; chunk < this.head.chunks; chunk++) {
      const pairs = await this.chunk(chunk);
      if (mine !== this.search) return;
      pairs.forEach((pair, place) => {
        const texts = [pair.id, pair.q, pair.a, pair.b, ...(pair.calls || []).map((call) => call && call[3])];
        if (texts.some((text) => text && text.toLowerCase().includes(words))) found.add(chunk * this.head.per_chunk + place);
      });
      document.getElementById("found").textContent = `searched ${count(Math.min(this.head.pairs, (chunk + 1) * this.head.per_chunk))} of ${count(this.head.pairs)}`;
    }
    this.searched = found;
    this.filter();
  }

  // List: only rows in view are in the page.
  draw() {
    const high = 40, first = Math.max(0, Math.floor(this.list.scrollTop / high) - 5);
    const end = Math.min(this.shown.length, first + Math.ceil(this.list.clientHeight / high) + 10);
    this.rows.style.height = `${this.shown.length * high}px`;
    const verdicts = this.verdicts();
    this.rows.replaceChildren();
    for (let place = first; place < end; place++) {
      const pair = this.shown[place], row = element("div", "row");
      row.style.top = `${place * high}px`;
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", String(place === this.at));
      const name = element("span", "name", this.head.ids[pair]);
      row.append(element("span", "n number", count(pair + 1)), name, chip(verdicts[pair]));
      const people = element("span", "people");
      if (this.arrays.human[pair]) people.append(chip(this.arrays.human[pair]));
      row.append(people);
      row.addEventListener("click", () => this.open(place));
      this.rows.append(row);
    }
    if (!this.shown.length) this.rows.append(element("p", "empty", "No pair is like this."));
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    this.open(Math.max(0, Math.min(this.shown.length - 1, this.at + step)));
  }

  intoView() {
    const top = this.at * 40;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    else if (top + 40 > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = top + 40 - this.list.clientHeight;
  }

  async chunk(number) {
    if (!this.chunks.has(number)) this.chunks.set(number, json(`texts-${number}`));
    return this.chunks.get(number);
  }

  // One pair
  async open(place) {
    this.at = place;
    this.intoView();
    this.draw();
    const pair = this.shown[place];
    if (pair === undefined) {
      this.detail.replaceChildren();
      return;
    }
    const size = this.head.per_chunk;
    const texts = (await this.chunk(Math.floor(pair / size)))[pair % size];
    if (this.shown[this.at] === pair) this.show(pair, texts);
  }

  show(pair, texts) {
    const made = [element("h2", "", texts.id)];
    const facts = element("p", "facts");
    this.head.aggregations.forEach((of, place) => {
      const fact = element("span", "fact", `${of.title} `);
      fact.append(chip(this.arrays.verdicts[place * this.head.pairs + pair]));
      facts.append(fact);
    });
    const people = element("span", "fact", "People ");
    people.append(this.arrays.human[pair] ? chip(this.arrays.human[pair]) : element("span", "s2", "no label"));
    facts.append(people);
    if (texts.note) facts.append(element("span", "fact", texts.note));
    made.push(facts, element("h3", "", "Question"), element("div", "text", texts.q), ...this.pictures(texts, "q"));
    if (texts.criteria) {
      const weighted = new Set(texts.criteria.map((of) => of.weight ?? 1)).size > 1;
      const list = texts.criteria.map((of) => {
        const weight = weighted ? ` (weight ${of.weight ?? 1})` : "";
        return `${of.name}${weight}${of.description ? `: ${of.description}` : ""}`;
      });
      made.push(element("h3", "", "Criteria"), element("div", "text", list.join("\n")));
    }
    if (texts.ref) made.push(element("h3", "", "Reference"), element("div", "text", texts.ref), ...this.pictures(texts, "ref"));
    const both = element("div", "both");
    for (const [side, letter] of [["a", 1], ["b", 3]]) {
      const column = element("section"), title = element("h3", "", `Response ${side.toUpperCase()} `);
      title.append(chip(letter));
      if (texts[`m${side}`]) title.append(element("span", "s2", ` ${texts[`m${side}`]}`));
      column.append(title, element("div", "text", texts[side] || "(empty)"), ...this.pictures(texts, side));
      both.append(column);
    }
    made.push(both, ...this.evidence(texts));
    this.detail.replaceChildren(...made);
    this.detail.scrollTop = 0;
    history.replaceState(null, "", `#pair=${encodeURIComponent(this.head.ids[pair])}`);
  }

  pictures(texts, text) {
    return ((texts.pics || {})[text] || []).map(([name, words, block]) => {
      const figure = element("figure", "picture"), caption = `${name}: ${words}`;
      if (block) {
        const image = element("img"), data = document.getElementById(`data-${block}`).textContent;
        image.src = `data:image/${data.startsWith("iVBOR") ? "png" : "jpeg"};base64,${data}`;
        image.alt = caption;
        figure.append(image);
      }
      figure.append(element("figcaption", "s2", block ? caption : `${caption} (left out of this file)`));
      return figure;
    });
  }

  evidence(texts) {
    const made = [];
    let layer = -1;
    const { sites, depth, samples } = this.head, perNeuron = sites.length / (texts.roles || [0]).length;
    (texts.calls || []).forEach((call, place) => {
      if (!call) return;
      const [of, neuron, order, sample] = sites[place], [code, scoreA, scoreB, words] = call;
      if (of !== layer) {
        layer = of;
        made.push(element("h3", "", layer > depth ? "Chair" : `Layer ${layer}`));
      }
      const card = element("article", "call"), title = element("p", "who");
      const shown = `${order === "ab" ? "A shown first" : "B shown first"}${samples > 1 ? `, sample ${sample}` : ""}`;
      title.append(element("b", "", texts.roles[Math.floor(place / perNeuron)] || `Neuron ${neuron}`));
      title.append(element("span", "s2", ` ${shown} `), chip(code));
      if (scoreA !== null && scoreB !== null) title.append(element("span", "n", ` ${scoreA} : ${scoreB}`));
      card.append(title, element("div", code ? "text" : "text s2", words || (code ? "(no evidence)" : "Not asked.")));
      made.push(card);
    });
    return made;
  }

  // What if
  fillWhatIf() {
    const { layers, rules, depth } = this.head;
    if (!depth || !this.calls.pairs || !this.head.what_if) {
      document.getElementById("what-if").hidden = true;
      return;
    }
    const range = (id, most, value) => {
      const slider = document.getElementById(id);
      slider.max = most;
      slider.value = value;
      slider.disabled = most < 2;
      slider.addEventListener("input", () => this.tryOut());
    };
    range("depth", depth, depth);
    range("width", layers.filter((of) => of === depth).length, layers.filter((of) => of === depth).length);
    range("samples", this.head.samples, this.head.samples);
    document.getElementById("samples").parentElement.hidden = this.head.samples < 2;
    document.getElementById("orders").parentElement.hidden = this.head.orders.length < 2;
    for (const id of ["orders", "rule"]) document.getElementById(id).addEventListener("change", () => this.tryOut());
    document.getElementById("changed").addEventListener("click", () => {
      document.getElementById("which").value = "changed";
      this.filter();
    });
    document.getElementById("rule").value = this.head.rule;
    const whole = { depth, width: layers.filter((of) => of === depth).length, orders: this.head.orders, samples: this.head.samples };
    this.own = subnetwork(this.calls, whole, rules, this.head.rule);
    this.tryOut();
  }

  tryOut() {
    const { layers, rules, orders } = this.head;
    const depth = Number(document.getElementById("depth").value), width = document.getElementById("width");
    const most = layers.filter((of) => of === depth).length;
    if (Number(width.max) !== most) {
      width.max = most;
      width.value = most;
      width.disabled = most < 2;
    }
    const one = document.getElementById("orders");
    // A deeper layer has read both orders: one alone would be another network.
    one.disabled = depth > 1;
    if (depth > 1) one.value = "both";
    const choice = {
      depth,
      width: Number(width.value),
      orders: one.value === "both" ? orders : [Number(one.value)],
      samples: Number(document.getElementById("samples").value),
    };
    const rule = document.getElementById("rule").value;
    this.tried = subnetwork(this.calls, choice, rules, rule);
    const human = this.arrays.done.map((pair) => this.arrays.human[pair]);
    const found = accuracyOf(this.tried.codes, human);
    document.getElementById("depth-words").textContent = plural(depth, "layer");
    document.getElementById("width-words").textContent = `${count(choice.width)} of ${plural(most, "neuron")} in layer ${depth}`;
    document.getElementById("samples-words").textContent = plural(choice.samples, "sample");
    document.getElementById("accuracy").textContent = found.value === null ? "n/a" : `${percent(found.value)} %`;
    document.getElementById("accuracy-words").textContent = found.value === null
      ? "no pair has both a human label and a verdict"
      : `accuracy${this.head.repeated ? "" : ` [${percent(found.low)}, ${percent(found.high)}]`}, ${count(found.n)} of ${count(this.head.pairs)} pairs`;
    document.getElementById("calls").textContent = this.tried.calls.toFixed(1);
    const changed = this.changed().size;
    document.getElementById("changed").textContent = `${plural(changed, "verdict")} changed`;
    document.getElementById("changed").disabled = !changed;
    if (document.getElementById("which").value === "changed") this.filter();
  }

  changed() {
    const found = new Set();
    if (this.tried && this.own) {
      this.tried.codes.forEach((code, place) => {
        if (code && this.own.codes[place] && code !== this.own.codes[place]) found.add(this.arrays.done[place]);
      });
    }
    return found;
  }
}

async function begin() {
  const head = await json("head");
  const arrays = {};
  for (const [name, kind] of head.arrays) arrays[name] = new ({ f8: Float64Array, u1: Uint8Array, u4: Uint32Array })[kind](await unpacked(name));
  const explorer = new Explorer(head, arrays);
  explorer.start();
  document.documentElement.dataset.ready = "yes";
  return explorer;
}

if (typeof document !== "undefined") {
  begin().catch((error) => {
    document.getElementById("found").textContent = `The run cannot be shown: ${error.message}. A browser of 2023 or later is needed.`;
  });
}
