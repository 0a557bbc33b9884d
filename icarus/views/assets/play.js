"use strict";
const byId = (id) => document.getElementById(id);
let now = null;      // what the server told last of the game as it stands
let looking = null;  // after how many actions the board is looked at; null for now
let chosen = [];     // parts clicked so far

function say(text, wrong = true) {
  byId("said").textContent = text;
  byId("said").classList.toggle("wrong", wrong);
}

async function ask(what, given) {
  try {
    const answer = await fetch("/" + what, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ version: now.version, ...given }),
    });
    const found = await answer.json();
    say(answer.ok ? "" : found.error);
    return answer.ok ? found : null;
  } catch (error) {
    say("the game cannot be reached: is icarus play still running?");
    return null;
  }
}

function begins(move) { return chosen.every((part, i) => move.parts[i] === part); }

// Parts lie inside each other, a piece on its square: the innermost of which something can be made is meant.
function clickAmong(names) {
  const leads = (part) => now.moves.some((move) => [...chosen, part].every((one, i) => move.parts[i] === one));
  const begins = (part) => now.moves.some((move) => move.parts[0] === part);
  click(names.find(leads) ?? names.find(begins) ?? names[names.length - 1]);
}

function click(part) {
  if (looking !== null || !now.moves.length) { say(now.over ? "the game is over" : looking !== null ? "this is the past; ▶| leads back to now" : "it is not your turn"); return; }
  const longer = [...chosen, part];
  const fits = now.moves.filter((move) => longer.every((one, i) => move.parts[i] === one));
  if (!fits.length) {
    const again = now.moves.some((move) => move.parts[0] === part);
    say(again ? "" : `nothing can be done with ${part} now`);
    chosen = again ? [part] : [];
  } else {
    chosen = longer;
    say("");
    const done = fits.filter((move) => move.parts.length === longer.length);
    if (done.length === 1 && fits.length === 1) { act(done[0].action); return; }
  }
  draw(now);
}

async function act(action) {
  chosen = [];
  await ask("act", { action });
}

function draw(told) {
  byId("game").textContent = told.game;
  byId("who").textContent = told.who;
  document.title = told.game;
  byId("status").textContent = looking === null ? told.status : `looking back: after ${told.at} of ${told.total} actions`;
  byId("board").innerHTML = told.board;
  const fits = looking === null ? told.moves.filter(begins) : [];
  const open = new Set(told.moves.map((move) => move.parts[0]).concat(fits.map((move) => move.parts[chosen.length])));
  document.body.classList.toggle("mine", looking === null && [...open].some(Boolean));
  for (const part of byId("board").querySelectorAll("[data-part]")) {
    part.classList.toggle("open", looking === null && open.has(part.dataset.part));
    part.classList.toggle("chosen", chosen.includes(part.dataset.part));
  }
  byId("clicked").textContent = chosen.length ? `${chosen.join(" ")} …` : "";
  byId("moves").replaceChildren(...fits.map((move) => {
    const button = document.createElement("button");
    button.textContent = move.text;
    button.addEventListener("click", () => act(move.action));
    return button;
  }));
  byId("place").textContent = `${told.at} / ${told.total}`;
  byId("back").disabled = byId("first").disabled = told.at === 0;
  byId("forward").disabled = byId("last").disabled = looking === null;
  byId("undo").hidden = byId("hint").hidden = byId("resign").hidden = !told.people;
  byId("hint").disabled = byId("resign").disabled = !told.moves.length || looking !== null;
  byId("why").disabled = !told.why;
  byId("open").hidden = !told.hidden || !told.people;
  const log = byId("log"), end = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  log.replaceChildren(...told.log.map((text, i) => {
    const button = document.createElement("button");
    button.textContent = text;
    button.title = "look at this moment";
    button.classList.toggle("here", told.at === i + 1 && looking !== null);
    button.addEventListener("click", () => look(i + 1));
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  if (end && looking === null) log.scrollTop = log.scrollHeight;
}

async function look(at) {
  looking = at >= now.total ? null : Math.max(0, at);
  chosen = [];
  if (looking === null) { draw(now); return; }
  try {
    draw(await (await fetch(`/state?at=${looking}`)).json());
  } catch (error) {
    say("the game cannot be reached: is icarus play still running?");
  }
}

async function follow() {
  for (;;) {
    try {
      const told = await (await fetch(now === null ? "/state" : `/state?since=${now.version}`)).json();
      const news = now === null || told.version !== now.version;
      if (now !== null && byId("said").dataset.lost) { say(""); delete byId("said").dataset.lost; }
      now = told;
      if (news) { chosen = []; if (looking === null) draw(told); else look(looking); }
    } catch (error) {
      say("the game cannot be reached: is icarus play still running?");
      byId("said").dataset.lost = "yes";
      await new Promise((done) => setTimeout(done, 2000));
    }
  }
}

async function search(what, given) {
  const found = await ask(what, given);
  if (found === null) return;
  byId("thinking").hidden = false;
  byId("asked").textContent = found.title;
  byId("table-of-search").textContent = found.said;
  byId("whole").href = `${found.tree}?${Date.now()}`;
  byId("tree").src = `${found.tree}?${Date.now()}#moves`;
}

byId("board").addEventListener("click", (event) => {
  const names = [];
  for (let part = event.target.closest("[data-part]"); part; part = part.parentElement.closest("[data-part]")) names.push(part.dataset.part);
  if (names.length) clickAmong(names);
});
byId("first").addEventListener("click", () => look(0));
byId("back").addEventListener("click", () => look((looking ?? now.total) - 1));
byId("forward").addEventListener("click", () => look((looking ?? now.total) + 1));
byId("last").addEventListener("click", () => look(now.total));
byId("undo").addEventListener("click", async () => { const found = await ask("undo", {}); if (found) { looking = null; say(found.said, false); } });
byId("save").addEventListener("click", async () => { const found = await ask("save", {}); if (found) say(found.said, false); });
byId("close").addEventListener("click", () => { byId("thinking").hidden = true; });
byId("open").addEventListener("click", async () => { if (confirm("Show all hidden cards and pieces from now on?")) { const found = await ask("open", {}); if (found) say(found.said, false); } });
byId("resign").addEventListener("click", () => { if (confirm("Give up this game?")) ask("resign", {}); });
byId("hint").addEventListener("click", () => search("hint", {}));
byId("why").addEventListener("click", () => search("why", looking === null ? {} : { at: looking }));
follow();
