"use strict";
// What the pages share: data unpacked from the page itself, elements, and how values are written and coloured.
const byId = id => document.getElementById(id);

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function element(tag, properties = {}, ...inside) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...inside);
  return made;
}

function colour(value) {
  // Orange for 0, grey between, blue for 1: told apart by all common kinds of colour vision.
  const ends = [[201, 92, 23], [150, 150, 146], [31, 111, 180]];
  // Steeper in the middle, where most values lie.
  const away = 2 * Math.max(0, Math.min(1, value)) - 1, at = 1 + Math.sign(away) * Math.abs(away) ** .6, low = Math.min(1, Math.floor(at)), part = at - low;
  return `rgb(${ends[low].map((c, i) => Math.round(c + (ends[low + 1][i] - c) * part)).join()})`;
}

const number = value => Number.isNaN(value) ? "·" : value.toFixed(3);

// A chart of lines: `series` are {name, points: [[x, y], …], marks: [[x, y], …], line: number of its colour}; `ends` are the scale of y, `across` that of x.
const LINES = ["#1f77b4", "#d9641e", "#3f8f4f", "#9467bd", "#8a7a3a"], DASHES = ["none", "6 3", "2 3"];
function chart(series, {label, ends: [low, high], across: [first, last]}) {
  const made = (tag, given, text = "") => {
    const part = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(given)) part.setAttribute(name, value);
    part.textContent = text;
    return part;
  };
  const x = at => 34 + 396 * (at - first) / Math.max(1e-9, last - first), y = value => 8 + 110 * (high - Math.max(low, Math.min(high, value))) / Math.max(1e-9, high - low);
  const picture = made("svg", {viewBox: `0 0 440 ${146 + 14 * series.length}`, role: "img", "aria-label": label, class: "chart"});
  for (const value of [low, (low + high) / 2, high])
    picture.append(made("line", {x1: 34, x2: 430, y1: y(value), y2: y(value), class: "rule"}), made("text", {x: 28, y: y(value) + 4, "text-anchor": "end"}, String(+value.toFixed(2))));
  picture.append(made("text", {x: 34, y: 133}, label));
  series.forEach(({name, points, marks = [], line}, i) => {
    const at = line ?? i, stroke = LINES[at % LINES.length], look = {stroke, "stroke-dasharray": DASHES[Math.floor(at / LINES.length) % DASHES.length]};
    picture.append(made("polyline", {points: points.map(([at, value]) => `${x(at)},${y(value)}`).join(" "), ...look, fill: "none", "stroke-width": 2}));
    for (const [at, value] of marks) picture.append(made("circle", {cx: x(at), cy: y(value), r: 4, fill: stroke}));
    picture.append(made("line", {x1: 34, x2: 51, y1: 145 + 14 * i, y2: 145 + 14 * i, ...look, "stroke-width": 5}), made("text", {x: 56, y: 149 + 14 * i}, name));
  });
  return picture;
}
