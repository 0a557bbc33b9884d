// The table: a game is chosen, a seat, and how strong the others are.
let game = null;

async function begin() {
  const level = byId("level").value, body = {game: game.name, seat: +byId("seat").value, persons: byId("persons").checked ? 2 : 1};
  if (level) body.level = +level;
  const answer = await fetch("/games", {method: "POST", body: JSON.stringify(body)}), told = await answer.json();
  if (told.error) byId("said").textContent = told.error; else location = `/games/${told.number}${byId("hints").checked ? "" : "#no-hints"}`;
}

function choose(chosen, button) {
  game = chosen;
  for (const other of document.querySelectorAll("#games button")) other.setAttribute("aria-pressed", other === button);
  byId("chosen").hidden = false;
  byId("name").textContent = `${game.name}, ${game.seats.length} players`;
  fetch(`/length?game=${encodeURIComponent(game.name)}`).then(answer => answer.json()).then(length => {
    if (length > 0 && chosen === game) byId("name").textContent = `${chosen.name}, ${chosen.seats.length} players, about ${length} decisions`;
  });
  byId("picture").removeAttribute("src");  // or the one before stays until this has come
  byId("picture").src = `/picture?game=${encodeURIComponent(game.name)}`;
  byId("picture").alt = `a position of ${game.name}`;
  byId("seat").replaceChildren(...game.seats.map((name, i) => element("option", {value: i, textContent: game.seats[i] === `player ${i}` ? `${i + 1}` : name})));
  const levels = game.levels.map((wins, i) => element("option", {value: i + 1, textContent: `level ${i + 1} of ${game.levels.length}: ${wins}`, selected: i + 1 === Math.min(game.usual, game.levels.length)}));
  byId("level").replaceChildren(...(levels.length ? levels : [element("option", {value: "", textContent: "as strong as a short search"})]));
  byId("persons").parentElement.hidden = game.seats.length < 2;
  byId("rules").replaceChildren(...game.rules.map(text => element("p", {textContent: text.replaceAll("\n", " ")})));
  location.hash = game.name;
  byId("said").textContent = "";
}

fetch("/choices").then(answer => answer.json()).then(choices => {
  if (choices.error) return byId("games").append(choices.error);
  for (const each of choices) {
    const button = element("button", {}, element("img", {src: `/picture?game=${encodeURIComponent(each.name)}`, alt: "", loading: "lazy"}), each.name);
    button.onclick = () => { choose(each, button); byId("chosen").focus(); };
    byId("games").append(element("li", {}, button));
    if (!game || location.hash === `#${each.name}`) choose(each, button);
  }
});
byId("begin").onclick = begin;
