let now = null;      // what the server told last of the game as it stands
let looking = null;  // after how many actions the board is looked at; null for now
let looks = 0;       // how often another position was asked for; answers to earlier requests are late
let chosen = [];     // parts clicked so far, by name
let copies = [];     // and which parts of the board these are, where several have one name
let lost = false;    // whether the game was out of reach when it was last asked
let heard = 0;       // lines of the log that have been announced
const REVEALS = "this would reveal hidden cards or pieces: possible when the game is over, or after \"show all\"";
const UNREACHABLE = "the game cannot be reached: is icarus play still running?";

function say(text, wrong = true) {
  if (byId("said").textContent !== text) byId("said").textContent = text;  // an alert is spoken whenever it is written
  byId("said").classList.toggle("wrong", wrong);
}

async function ask(what, given) {
  try {
    const answer = await fetch("/" + what, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ version: now.version, ...given }),
    });
    const found = await answer.json();
    while (answer.ok && !lost && now.version < found.version) await new Promise((done) => setTimeout(done, 10));  // the game is drawn first
    say(answer.ok ? "" : found.error);
    return answer.ok ? found : null;
  } catch (error) {
    say(UNREACHABLE);
    return null;
  }
}

// Of a set of cards the parts may be clicked in any order; elsewhere a move's parts are clicked one after the other.
function count(list, name) { return list.filter((one) => one === name).length; }
function begins(move, names = chosen) {
  if (now.select) return names.every((name) => count(names, name) <= count(move.parts, name));
  return names.every((part, i) => move.parts[i] === part);
}
function nexts() {
  if (now.select) return new Set(now.moves.filter((move) => begins(move)).flatMap((move) => move.parts.filter((name) => count(move.parts, name) > count(chosen, name))));
  return new Set(now.moves.map((move) => move.parts[0]).concat(now.moves.filter((move) => begins(move)).map((move) => move.parts[chosen.length])));
}

// Parts lie inside each other, a piece on its square: the innermost from which an action follows is meant.
function clickAmong(parts) {
  const names = parts.map((part) => part.dataset.part);
  const leads = (part) => now.moves.some((move) => begins(move, [...chosen, part]));
  const first = (part) => now.moves.some((move) => move.parts[0] === part);
  const name = names.find(leads) ?? names.find(first) ?? names[names.length - 1];
  const copy = parts.find((part) => part.dataset.part === name).copy;
  if (copies.includes(copy) && (now.select || chosen.length === 1)) putDown(copies.indexOf(copy)); else click(name, copy);
}

function putDown(place) {
  chosen.splice(place, 1);
  copies.splice(place, 1);
  draw(now);
}

function choose(names, parts) { chosen = names; copies = parts; }

function click(part, copy) {
  if (looking !== null || !now.moves.length) { say(lost ? UNREACHABLE : now.over ? "the game is over" : looking !== null ? "this is an earlier position; ▶| returns to the current one" : "it is not your turn"); return; }
  const longer = [...chosen, part];
  const fits = now.moves.filter((move) => begins(move, longer));
  if (!fits.length) {
    const again = !now.select && now.moves.some((move) => move.parts[0] === part);
    say(again ? "" : `nothing can be done with ${longer.map(nameOf).join(" ")} now`);
    if (!now.select) choose(again ? [part] : [], again ? [copy] : []);
  } else {
    choose(longer, [...copies, copy]);
    say("");
    if (!now.select && fits.length === 1 && fits[0].parts.length === longer.length) { act(fits[0].action); return; }
  }
  draw(now);
}

// The parts of the board as things that a keyboard and a screen reader can reach; marks lie above all squares.
function mark(part, kind) {
  const box = (part.querySelector("rect, path") ?? part).getBBox();
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ x: box.x + 1, y: box.y + 1, width: box.width - 2, height: box.height - 2, class: `mark ${kind}` })) rect.setAttribute(name, value);
  part.ownerSVGElement.append(rect);
  return rect;
}

function drawBoard(told) {
  const board = byId("board");
  board.innerHTML = told.board;
  const svg = board.querySelector("svg");
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", told.game);
  const mine = looking === null ? nexts() : new Set();
  for (const [copy, part] of board.querySelectorAll("[data-part]").entries()) {
    const name = part.dataset.part, open = mine.has(name);
    part.copy = copy;
    const isChosen = copies.includes(copy);
    part.classList.toggle("chosen", isChosen);
    part.classList.toggle("open", open);
    part.setAttribute("role", "button");
    part.setAttribute("tabindex", open || isChosen ? "0" : "-1");
    part.setAttribute("aria-disabled", !open && !isChosen);
    part.setAttribute("aria-label", `${part.getAttribute("aria-label") ?? name}${told.last.includes(name) ? ", last move" : ""}`);
    part.setAttribute("aria-pressed", isChosen);
    if (told.last.includes(name) && !svg.classList.contains("cards")) mark(part, "last");
    if (isChosen) mark(part, "chosen");
    else if (open && !svg.classList.contains("cards")) mark(part, "open");
  }
  for (const part of board.querySelectorAll("[data-part] [data-part]")) {  // a button must not lie in another: beside it, and it knows where it was
    part.inside = part.parentElement.closest("[data-part]");
    part.inside.after(part);
  }
  // Where cards are played, those that cannot be are dimmed; a hand that is only held is not.
  document.body.classList.toggle("mine", looking === null && told.moves.length > 0 && (told.select || told.moves.some((move) => move.parts.length)));
}

// A new page keeps the keyboard where it was: at the same part, line or button, or at what one can act on next.
function focusOf() {
  const active = document.activeElement, within = ["board", "moves", "log"].find((name) => byId(name).contains(active));
  return { active, within, at: within === "log" ? [...byId("log").querySelectorAll("button")].indexOf(active) : active.copy };
}
function refocus({ active, within, at }) {
  const parts = [...byId("board").querySelectorAll("[data-part]")];
  const next = parts.find((part) => part.classList.contains("open")) ?? byId("moves").querySelector("button") ?? byId("status");
  if (within === "log") (byId("log").querySelectorAll("button")[at] ?? next).focus();
  else if (within === "board") (parts.find((part) => part.copy === at && part.tabIndex === 0) ?? next).focus();
  else if (within === "moves") (byId("moves").querySelector("button") ?? next).focus();
  else if (active.disabled && active.closest(".controls")) ([...active.parentElement.querySelectorAll("button")].find((button) => !button.disabled && !button.hidden) ?? next).focus();
}

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
function step(from, [dx, dy]) {
  // The nearest part that one can act on in a direction; distances across count three times.
  const middle = (part) => { const box = part.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
  const [x, y] = middle(from);
  let best = null, least = Infinity;
  for (const part of byId("board").querySelectorAll('[data-part][tabindex="0"]')) {
    const [px, py] = middle(part), along = (px - x) * dx + (py - y) * dy, across = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
    if (part !== from && along > 1 && along + 3 * across < least) { least = along + 3 * across; best = part; }
  }
  best?.focus();
}

async function act(action) {
  choose([], []);
  byId("clicked").textContent = "sent …";
  document.body.classList.remove("mine");
  if (await ask("act", { action }) === null) draw(now);
}

function draw(told) {
  const focus = focusOf();
  byId("game").textContent = told.game;
  byId("who").textContent = told.who;
  document.title = told.game;
  byId("status").textContent = looking === null ? told.status : `earlier position: after ${told.at} of ${told.total} actions`;
  drawBoard(told);
  byId("words").textContent = told.text;
  announce();
  const ready = looking === null ? told.moves.filter((move) => begins(move)) : [];
  const fits = told.select ? ready.filter((move) => move.parts.length === chosen.length) : ready;
  byId("clicked").textContent = chosen.length ? `${chosen.map(nameOf).join(" ")} …` : told.select && told.moves.length && looking === null ? "select cards; those that a legal play can take are bright" : "";
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
  byId("hint").disabled = !told.hint || looking !== null;
  byId("resign").disabled = !told.moves.length || looking !== null;
  byId("why").disabled = !told.why;
  byId("open").hidden = !told.hidden || !told.people;
  byId("undo").textContent = looking === null ? "undo" : "take back to here";
  byId("undo").disabled = !told.undo;
  byId("review").hidden = !told.over || !!told.review;
  byId("record").disabled = told.hidden;
  byId("save").disabled = false;
  byId("record").title = told.hidden ? REVEALS : "";
  byId("why").title = told.hidden ? REVEALS : "the searches since the program was started; a saved game keeps none";
  offerStrengths(told.levels, told.strength);
  drawReview(told.review, told.log);
  const waits = () => !lost && !now.over && !(now.moves.length && now.hint);  // for an agent, or for a hint
  if (waits()) watch(() => !waits());
  const log = byId("log"), end = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  log.replaceChildren(...told.log.map((text, i) => {
    const button = document.createElement("button");
    button.textContent = text;
    button.title = "show this position";
    button.classList.toggle("here", told.at === i + 1 && looking !== null);
    button.addEventListener("click", () => look(i + 1));
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
  if (end && looking === null) log.scrollTop = log.scrollHeight;
  refocus(focus);
}

function nameOf(part) { return byId("board").querySelector(`[data-part="${CSS.escape(part)}"]`)?.dataset.shown ?? part; }

// All that was played since is read out, and not only the last of it.
function announce() {
  for (const text of now.log.slice(heard)) {
    const line = document.createElement("p");
    line.textContent = text;
    byId("news").append(line);
  }
  heard = now.log.length;
  while (byId("news").childElementCount > 20) byId("news").firstElementChild.remove();
}

// What was shown of another moment of the game.
function closePanels() {
  byId("thinking").hidden = byId("recorded").hidden = true;
}

function returnToNow() {
  looks += 1;
  looking = null;
  draw(now);
}

async function look(at) {
  choose([], []);
  say("");
  if (at >= now.total) { returnToNow(); return; }
  const request = ++looks;
  try {
    const answer = await fetch(`/state?at=${Math.max(0, at)}`), told = await answer.json();
    if (request !== looks) return;
    if (!answer.ok) { say(told.error); return; }
    looking = Math.max(0, at);
    draw(told);
  } catch (error) {
    say(UNREACHABLE);
  }
}

async function follow() {
  for (;;) {
    try {
      const answer = await fetch(now === null ? "/state" : `/state?since=${now.version}`), told = await answer.json();
      if (answer.ok) { take(told); continue; }
      lose(told.error);
    } catch (error) {
      lose(UNREACHABLE);
    }
    await new Promise((done) => setTimeout(done, 2000));
  }
}

function take(told) {
  const before = now;
  now = told;
  if (lost) { lost = false; say(""); }
  if (before?.version === told.version) return;
  if (before && (before.total !== told.total || before.over !== told.over)) closePanels();
  // What has been chosen stays where all that can be done is what it was.
  if (JSON.stringify(before?.moves) !== JSON.stringify(told.moves)) choose([], []);
  if (looking === null) draw(told); else look(looking);
}

// Nothing can be done any more; whatever comes back is news.
function lose(sentence) {
  say(sentence);
  if (lost) return;
  lost = true;
  byId("status").textContent = "out of reach";
  if (now === null) return;
  now = { ...now, version: -1, moves: [], undo: false, hint: false, why: false, status: "out of reach" };
  choose([], []);
  returnToNow();
}

// The search under way: its moves with their visits, while somebody thinks.
let watching = false;
async function watch(until) {
  if (watching) return;
  watching = true;
  while (!until()) {
    try {
      const live = await (await fetch("/live")).json(), most = Math.max(1, ...(live.moves ?? []).map((move) => move[1]));
      byId("live").hidden = !live.said;
      byId("live").caption.textContent = live.said ?? "";
      byId("live").tBodies[0].replaceChildren(...(live.moves ?? []).map(([move, visits, value]) => {
        const row = document.createElement("tr"), bar = document.createElement("td");
        for (const text of [move, visits.toLocaleString("en"), value.toFixed(2)]) row.insertCell().textContent = text;
        bar.className = "bar";
        bar.style.setProperty("--share", visits / most);
        row.append(bar);
        return row;
      }));
    } catch (error) { /* `follow` tells that the game cannot be reached */ }
    await new Promise((done) => setTimeout(done, 150));
  }
  byId("live").hidden = true;
  watching = false;
}

// The review: what each seat could expect, over the game, and where one could have done better.
function drawReview(review, log) {
  byId("reviewed").hidden = !review;
  if (!review) return;
  const series = review.names.map((name, seat) => {
    const mine = review.entries.filter((entry) => entry.seat === seat), points = (entries) => entries.map((entry) => [entry.at, entry.value]);
    return { name, points: points(mine), marks: points(mine.filter((entry) => entry.loss)) };
  });
  byId("curve").replaceChildren(chart(series, { label: "what each player could expect, over the game; dots are mistakes", ends: [0, 1], across: [0, log.length] }));
  const mistakes = review.entries.filter((entry) => entry.loss).sort((one, other) => other.loss - one.loss).map((entry) => {
    const button = document.createElement("button"), item = document.createElement("li");
    button.textContent = `${entry.at + 1}. ${log[entry.at]}; the search preferred ${entry.better}, by ${entry.loss.toFixed(2)}`;
    button.addEventListener("click", () => look(entry.at));
    item.append(button);
    return item;
  });
  const nothing = document.createElement("li");
  nothing.textContent = review.done ? "no mistakes found" : "searching …";
  byId("mistakes").replaceChildren(...mistakes, ...(mistakes.length && review.done ? [] : [nothing]));
}

function offerStrengths(levels, strength) {
  const select = byId("strength");
  if (select.options.length) { select.value = JSON.stringify(strength); return; }
  const offers = [["as at the start", {}], ...Array.from({ length: levels }, (_, i) => [`level ${i + 1}`, { level: i + 1 }]),
    ...[100, 1000, 10000, 100000].map((iterations) => [`${iterations.toLocaleString("en")} iterations`, { iterations }]), ...[1, 5, 20].map((seconds) => [`${seconds} s`, { seconds }])];
  select.replaceChildren(...offers.map(([text, given]) => new Option(text, JSON.stringify(given))));
  select.value = JSON.stringify(strength);
}

async function search(what, given) {
  let over = false;
  watch(() => over);
  const found = await ask(what, given).finally(() => { over = true; });
  if (found === null) return;
  byId("thinking").hidden = false;
  byId("asked").textContent = found.title;
  byId("table-of-search").textContent = found.said;
  byId("tree").hidden = byId("whole").hidden = found.tree === null;
  if (found.tree === null) { byId("table-of-search").parentElement.open = true; return; }
  byId("whole").href = `${found.tree}?${Date.now()}`;
  byId("tree").src = `${found.tree}?${Date.now()}#moves`;
}

function partsAround(target) {
  const parts = [];
  for (let part = target.closest("[data-part]"); part; part = part.inside) parts.push(part);
  return parts;
}
byId("board").addEventListener("click", (event) => {
  const parts = partsAround(event.target);
  if (parts.length) clickAmong(parts);
});
byId("board").addEventListener("keydown", (event) => {
  const parts = partsAround(event.target);
  if (!parts.length) return;
  if (event.key === "Enter" || event.key === " ") clickAmong(parts);
  else if (event.key === "Escape" && chosen.length) { choose([], []); draw(now); }
  else if (event.key in STEPS) step(parts[0], STEPS[event.key]);
  else return;
  event.preventDefault();
});
// The ring lies above all squares.
byId("board").addEventListener("focusin", (event) => {
  byId("board").querySelector(".mark.focus")?.remove();
  if (event.target.dataset.part && event.target.matches(":focus-visible")) mark(event.target, "focus");
});
byId("board").addEventListener("focusout", () => byId("board").querySelector(".mark.focus")?.remove());
byId("first").addEventListener("click", () => look(0));
byId("back").addEventListener("click", () => look((looking ?? now.total) - 1));
byId("forward").addEventListener("click", () => look((looking ?? now.total) + 1));
byId("last").addEventListener("click", () => look(now.total));
byId("undo").addEventListener("click", async () => { const found = await ask("undo", looking === null ? {} : { at: looking }); if (found) { returnToNow(); say(found.said, false); } });
byId("review").addEventListener("click", () => ask("review", {}));
byId("record").addEventListener("click", async () => { if (!byId("recorded").hidden) { byId("recorded").hidden = true; return; } const found = await ask("record", {}); if (found) { byId("recorded").textContent = found.said; byId("recorded").hidden = false; } });
byId("strength").addEventListener("change", async () => { const found = await ask("strength", JSON.parse(byId("strength").value)); if (found) say(found.said, false); });
byId("save").addEventListener("click", async () => { const found = await ask("save", {}); if (found) say(found.said, false); });
byId("close").addEventListener("click", () => {
  byId("thinking").hidden = true;
  (["hint", "why"].map(byId).find((button) => !button.disabled && !button.hidden) ?? byId("status")).focus();
});
byId("open").addEventListener("click", async () => { if (confirm("Show all hidden cards and pieces from now on?")) { const found = await ask("open", {}); if (found) say(found.said, false); } });
byId("resign").addEventListener("click", () => { if (confirm("Give up this game?")) ask("resign", {}); });
byId("hint").addEventListener("click", () => search("hint", {}));
byId("why").addEventListener("click", () => search("why", looking === null ? {} : { at: looking }));
follow();
