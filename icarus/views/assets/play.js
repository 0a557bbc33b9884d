// A game: what the server tells of it is drawn, and what is clicked is said to it as a line, as one types it in the terminal.
let now = null;      // what the server told last of the game as it stands
let looking = null;  // after how many actions the board is looked at; null for now
let looks = 0;       // how often another position was asked for; answers to earlier requests are late
let chosen = [];     // parts clicked so far: {name, copy}, where several parts of the board have one name
let hinted = null;   // the name of the move that a hint has named
let drawn = null;    // the version that has been drawn
let heard = 0, seen = 0;  // lines of the log that have been announced; actions of which the position has been shown
let levels = 0;      // of the game
const better = {};   // by the number of actions before it, what would have been better than mine
const here = location.pathname;

function tell(text, wrong = true) {
  if (byId("said").textContent !== text) byId("said").textContent = text;  // an alert is spoken whenever it is written
  byId("said").classList.toggle("wrong", wrong);
}

async function ask(path, body) {
  const post = {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)};
  try {
    const answer = await fetch(path, body && post);
    const told = await answer.json();
    return answer.ok ? told : {error: told.error};
  } catch (error) {
    return {error: "the game cannot be reached: is icarus play still running?"};
  }
}

async function say(line) {
  const told = await ask(here, {line, at: now.total});
  tell(told.error ?? told.said + (line === "save" ? ", or from the page of all games" : ""), !!told.error);
  hinted = told.move ?? null;
  byId("more").hidden = !told.move;
  byId("more").onclick = () => show(told);
  if (told.move) draw(now);  // a hint
  else if (told.title) show(told);  // the search behind the last move
  return !told.error;
}

// Of a set of cards the parts may be clicked in any order; elsewhere a move's parts are clicked one after the other.
const count = (list, name) => list.filter(one => one === name).length;
function begins(move, names = chosen.map(part => part.name)) {
  if (now.select) return names.every(name => count(names, name) <= count(move.parts, name));
  return names.every((part, i) => move.parts[i] === part);
}

// The names of parts that may be clicked next; where parts are no set, a move may also begin anew.
function nexts() {
  const names = chosen.map(part => part.name);
  const ready = now.moves.filter(move => begins(move));
  if (now.select) {
    const missing = move => move.parts.filter(name => count(move.parts, name) > count(names, name));
    return new Set(ready.flatMap(missing));
  }
  const firsts = now.moves.map(move => move.parts[0]);
  return new Set([...firsts, ...ready.map(move => move.parts[names.length])]);
}

// Parts lie inside each other, a piece on its square: the innermost from which an action follows is meant.
function click(target) {
  const around = [];
  for (let part = target.closest("[data-part]"); part; part = part.inside) around.push(part);
  if (!around.length) return;
  if (looking !== null) {
    tell("this is an earlier position; ▶| returns to the current one");
    return;
  }
  const names = chosen.map(part => part.name);
  const movesWith = part => now.moves.filter(move => begins(move, [...names, part.dataset.part]));
  const isFirst = part => now.moves.some(move => move.parts[0] === part.dataset.part);
  const part = around.find(part => movesWith(part).length) ?? around.find(isFirst) ?? around.at(-1);
  const one = {name: part.dataset.part, copy: part.copy};
  const fits = movesWith(part);
  if (chosen.some(part => part.copy === one.copy)) chosen = chosen.filter(part => part.copy !== one.copy);  // put down
  else if (fits.length) chosen.push(one);
  else {
    const words = [...names, one.name].join(" ");
    if (now.select || !isFirst(part)) tell(now.moves.length ? `nothing can be done with ${words} now` : now.status);
    if (!now.select) chosen = isFirst(part) ? [one] : [];
  }
  const isWhole = fits.length === 1 && fits[0].parts.length === chosen.length;
  if (isWhole && !now.select) act(fits[0]);
  else draw(now);
}

// Nothing else is done while a move is played, nor are earlier actions of the others shown; a move that is refused leaves all as it was.
async function act(move) {
  const before = now, {moves, status} = now;
  Object.assign(now, {moves: [], status: `${move.name} is played …`});
  chosen = [];
  looks++;
  wait(now.status);
  if (await say(move.name)) return;
  Object.assign(before, {moves, status});
  draw(now);
}

// What the game waits for; while something is worked at, a wheel turns before it.
function wait(text) {
  byId("status").textContent = text;
  byId("status").classList.toggle("busy", text.endsWith("…"));
}

function setAttributes(part, attributes) {
  for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
}

// A frame around a part, above all squares.
function mark(part, kind) {
  const box = (part.matches(".place") ? part.querySelector("rect") : part).getBBox();
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  setAttributes(rect, {x: box.x + 1, y: box.y + 1, width: box.width - 2, height: box.height - 2, class: `mark ${kind}`});
  const svg = part.ownerSVGElement;
  const place = svg.getScreenCTM().inverse().multiply(part.getScreenCTM());
  rect.transform.baseVal.initialize(svg.createSVGTransformFromMatrix(place));
  return svg.appendChild(rect);
}

// The parts of the board as things that a keyboard and a screen reader can reach.
function drawBoard(told) {
  const board = byId("board");
  const mine = looking === null ? nexts() : new Set();
  const hint = told.moves.find(move => move.name === hinted);
  const advised = [...better[looking] ?? hint?.parts ?? []];
  board.innerHTML = told.board;
  setAttributes(board.querySelector("svg"), {role: "group", preserveAspectRatio: "xMinYMin", "aria-label": told.game});
  for (const [copy, part] of board.querySelectorAll("[data-part]").entries()) {
    const name = part.dataset.part;
    const open = mine.has(name), isChosen = chosen.some(one => one.copy === copy), isLast = told.last.includes(name);
    const isCard = part.matches(".card, .plate, .die");
    part.copy = copy;
    part.classList.toggle("chosen", isChosen);
    part.classList.toggle("open", open);
    setAttributes(part, {
      role: "button",
      tabindex: open || isChosen ? 0 : -1,
      "aria-disabled": !open && !isChosen,
      "aria-pressed": isChosen,
      "aria-label": (part.getAttribute("aria-label") ?? name) + (isLast ? ", last move" : ""),
    });
    if (isLast && !isCard) mark(part, "last");
    if (!isCard && (isChosen || open)) mark(part, isChosen ? "chosen" : "open");
    const place = advised.indexOf(name);
    if (place >= 0) {  // a card has an edge of its own: a frame above would lie over the next one
      advised.splice(place, 1);
      if (isCard) part.classList.add("advised"); else mark(part, "hint");
    }
    let frame = null;  // of the part that the keyboard is at, above those that lie on it
    part.onfocus = () => { if (part.matches(":focus-visible")) frame = mark(part, "focus"); };
    part.onblur = () => frame?.remove();
  }
  for (const part of board.querySelectorAll("[data-shown]")) if (told.last.includes(part.dataset.shown)) mark(part, "last");
  for (const part of board.querySelectorAll("[data-part] [data-part]")) {  // a button must not lie in another: beside it, and it knows where it was
    part.inside = part.parentElement.closest("[data-part]");
    part.inside.after(part);
  }
  const kinds = {
    ".mark.open": "orange: can be clicked",
    ".mark.last": "blue: the last move",
    ".mark.hint, .advised": better[looking] ? "violet: what was better" : "violet: the hint",
    ".mark.chosen, .chosen": "red: selected",
  };
  const found = Object.keys(kinds).filter(kind => board.querySelector(kind));
  byId("frames").textContent = found.map(kind => kinds[kind]).join(", ");
  // Where cards are played, those that cannot be are dimmed; a hand that is only held is not.
  const isByParts = told.select || told.moves.some(move => move.parts.length);
  document.body.classList.toggle("mine", looking === null && isByParts && told.moves.length > 0);
}

function draw(told) {
  const focus = document.activeElement, place = focus.copy ?? focus.place;
  const within = ["board", "moves", "log", "status"].map(byId).find(each => each.contains(focus));
  for (const name of ["game", "who"]) byId(name).textContent = told[name];
  document.title = told.game;
  wait(looking === null ? told.status : `earlier position: after ${told.at} of ${told.total} actions`);
  drawBoard(told);
  byId("words").textContent = told.text;
  byId("clicked").textContent = clicked(told);
  byId("moves").replaceChildren(...buttonsOf(told));
  for (const button of document.querySelectorAll("[data-say]")) {
    button.title = now.refusals[button.dataset.say];
    button.disabled = button.title !== "";
  }
  byId("after").hidden = !now.over || now.seat === null;
  byId("weaker").disabled = !(now.level > 1);  // nor where there is no level
  byId("stronger").disabled = !(now.level < levels);
  byId("place").textContent = `${told.at} / ${told.total}`;
  byId("log").replaceChildren(...told.log.map((text, i) => element("li", {}, lookButton(i + 1, text))));
  if (looking === null) byId("log").scrollTop = byId("log").scrollHeight;
  byId("news").append(...now.log.slice(heard).map(text => element("p", {textContent: text})));  // read out: all that was played since
  heard = now.log.length;
  if (!within) return;  // a new page keeps the keyboard at the same part or line, or at what one can act on next
  const parts = [...within.querySelectorAll("[data-part], button")];
  const same = parts.find(part => (part.copy ?? part.place) === place && part.tabIndex === 0);
  const next = byId("board").querySelector(".open") ?? byId("moves").firstChild ?? byId("status");
  (same ?? next).focus();
}

// What has been clicked so far, or how one begins.
function clicked(told) {
  if (chosen.length) return `${chosen.map(part => part.name).join(" ")} …`;
  if (told.select && byId("board").querySelector(".open")) return "select cards; those that a legal play can take are bright";
  return "";
}

// A button for each move that goes on with what has been clicked; where parts are a set, for those that have just these.
function buttonsOf(told) {
  if (looking !== null) return [];
  const fits = told.moves.filter(move => begins(move) && (!told.select || move.parts.length === chosen.length));
  return fits.map(move => element("button", {textContent: move.name, className: move.name === hinted ? "hint" : "", onclick: () => act(move)}));
}

function lookButton(at, text) {
  return element("button", {textContent: text, title: "show this position", place: at, className: looking === at ? "here" : "", onclick: () => look(at)});
}

async function look(at) {
  const request = ++looks;
  chosen = [];
  looking = at >= now.total ? null : Math.max(0, at);
  const told = looking === null ? now : await ask(`${here}/state?at=${looking}`);
  if (request !== looks) return;
  if (told.error) { looking = null; tell(told.error); return; }
  draw(told);
}

// What the others have done since is shown one by one, at a speed that one can follow; who goes elsewhere leaves that.
async function replay(told) {
  const request = ++looks;
  const first = told.log.findIndex((text, i) => i >= seen && !text.startsWith("you: "));
  const pause = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 650;
  for (let at = first + 1; seen && first >= 0 && at < told.total && told.total - seen < 12; at++) {
    const earlier = await ask(`${here}/state?at=${at}`);
    if (request !== looks || looking !== null || earlier.error) break;
    draw({...earlier, status: told.log[at - 1]});
    await new Promise(done => setTimeout(done, pause));
  }
  seen = now.total;
  if (looking === null) draw(now);
}

// After the end: who was ahead, and what cost most, one decision after the other.
async function judge() {
  byId("judge").disabled = true;
  const verdicts = [], wide = 400;
  for (let at = 0; at < now.total; at++) {
    const told = await ask(`${here}/judge?at=${at}`);
    if (told.error) return tell(told.error);
    const ahead = told.mine ? told.best : 1 - told.best, cost = told.mine ? told.best - told.value : 0;
    if (told.words) verdicts.push({at, ...told, ahead, cost});
    if (cost > 0) better[at] = told.better;
    const known = verdicts.filter(each => each.mine || each.rivals);
    const line = known.map(({at, ahead}) => `${wide * at / Math.max(1, now.total)},${90 - 80 * ahead}`).join(" ");
    const middle = verdicts.some(each => each.rivals) ? `<path d="M0 50H${wide}" stroke="var(--line)"/>` : "";  // of others nobody can say where an even game stands
    byId("curve").innerHTML = `<svg viewBox="0 0 ${wide} 100" role="img" aria-label="how you stood">${middle}<polyline points="${line}" fill="none" stroke="var(--focus)" stroke-width="2"/></svg>`;
    byId("judged").textContent = `${at + 1} of ${now.total} actions looked at; ${middle ? "above the line you were ahead" : "the higher, the better for you"}`;
    const costly = verdicts.filter(each => each.cost > 0).sort((a, b) => b.cost - a.cost).slice(0, 3);
    byId("costly").replaceChildren(...costly.map(({at, words}) => element("li", {}, lookButton(at, words))));
  }
}

async function again(changes) {
  const like = Number(here.split("/").at(-1));
  const told = await ask("/games", {game: now.game, like, seat: now.seat ?? 0, level: now.level ?? 0, ...changes});
  if (told.error) {
    tell(told.error);
    return;
  }
  const next = `/games/${told.number}${location.hash}`;
  sessionStorage.setItem(here, next);  // for who comes back
  location = next;
}

// The other person's address before the first action; or mine in the game that the other one has begun after this.
function invite() {
  const [link] = now.links;
  const next = link && !link.startsWith(`${here}?`) && (sessionStorage.getItem(here) ?? link);
  byId("invite").textContent = link && !next && !now.total ? `the other person's address: ${location.origin + link}` : "";
  if (next) byId("invite").append(element("a", {href: next, textContent: "a new game has begun: take your seat"}));
}

async function follow() {
  for (;;) {
    const told = await ask(`${here}/state?since=${now?.version ?? -1}`);
    if (told.error) {  // nothing can be done any more; whatever comes back is news
      tell(told.error);
      const gone = "out of reach";
      if (now) {
        Object.assign(now, {version: -1, moves: [], status: gone});
        look(Infinity);
      } else byId("status").textContent = gone;
      drawn = null;
      await new Promise(done => setTimeout(done, 2000));
      continue;
    }
    const before = now, moves = JSON.stringify(told.moves);
    now = told;
    invite();
    if (!before && told.level) countLevels(told.game);
    if (told.version === drawn) continue;
    if (drawn === null) tell("");
    drawn = told.version;
    if (before && before.total !== told.total) byId("shown").hidden = true;
    if (JSON.stringify(before?.moves) !== moves) {  // what has been chosen stays where all that can be done is what it was
      chosen = [];
      hinted = null;
      byId("more").hidden = true;
    }
    if (before && before.status !== told.status && byId("said").classList.contains("wrong")) tell("");
    if (looking === null) await replay(told); else look(looking);
  }
}

async function countLevels(game) {
  const choice = await ask(`/choices/${encodeURIComponent(game)}`);
  levels = choice.elo?.length;
  if (looking === null) draw(now);
}

// A search with its tree.
function show({title, table, tree}) {
  byId("shown").hidden = false;
  byId("title").textContent = title;
  byId("table-of-search").textContent = table;
  byId("table-of-search").parentElement.open = !tree;
  byId("tree").hidden = byId("whole").hidden = !tree;
  if (tree) byId("tree").src = `${here}/tree?${Date.now()}#moves`;
}

byId("board").onclick = event => click(event.target);
byId("board").onkeydown = event => {
  if (event.key === "Enter" || event.key === " ") click(event.target);
  else if (event.key === "Escape") { chosen = []; draw(now); }
  else return;
  event.preventDefault();
};
for (const button of document.querySelectorAll("[data-look]")) button.onclick = () => look((looking ?? now.total) + Number(button.dataset.look));
for (const button of document.querySelectorAll("[data-say]")) button.onclick = async () => {
  const {say: line, sure: question} = button.dataset;
  if (question && !confirm(question)) return;
  const isDone = await say(line);
  if (isDone && line === "undo") look(Infinity);
};
for (const word of ["hint", "why"]) document.querySelector(`[data-say=${word}]`).hidden = location.hash === "#no-hints";
byId("whole").href = `${here}/tree`;
byId("judge").onclick = judge;
byId("again").onclick = () => again({});
byId("other").onclick = () => again({seat: (now.seat + 1) % now.players});
byId("weaker").onclick = () => again({level: now.level - 1});
byId("stronger").onclick = () => again({level: now.level + 1});
byId("close").onclick = () => { byId("shown").hidden = true; document.querySelector("[data-say=hint]").focus(); };
follow();
