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
  const away = 2 * Math.max(0, Math.min(1, value)) - 1;
  const at = 1 + Math.sign(away) * Math.abs(away) ** .6;
  const low = Math.min(1, Math.floor(at)), part = at - low;
  return `rgb(${ends[low].map((c, i) => Math.round(c + (ends[low + 1][i] - c) * part)).join()})`;
}

const number = value => Number.isNaN(value) ? "·" : value.toFixed(3);
