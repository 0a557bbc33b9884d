// The table: a game is chosen, a seat, and how strong the others are.
let game = null;

const told = async (path, options) => (await fetch(path, options)).json();
const pictured = game => `data:image/svg+xml,${encodeURIComponent(game.picture)}`;

async function begin() {
  const level = byId("level").value, body = {game: game.name, seat: +byId("seat").value, persons: byId("persons").checked ? 2 : 1};
  if (level) body.level = +level;
  const begun = await told("/games", {method: "POST", body: JSON.stringify(body)});
  if (begun.error) byId("said").textContent = begun.error; else location = `/games/${begun.number}${byId("hints").checked ? "" : "#no-hints"}`;
}

function choose(chosen, button) {
  game = chosen;
  for (const other of document.querySelectorAll("#games button")) other.setAttribute("aria-pressed", other === button);
  byId("chosen").hidden = false;
  byId("name").textContent = `${game.name}, ${game.seats.length} players` + (game.length ? `, about ${game.length} decisions` : "");
  byId("picture").src = pictured(game);
  byId("picture").alt = `a position of ${game.name}`;
  byId("seat").replaceChildren(...game.seats.map((name, i) => element("option", {value: i, textContent: game.seats[i] === `player ${i}` ? `${i + 1}` : name})));
  const levels = game.elo.map((elo, i) => {
    const wins = Math.round(100 / (1 + 10 ** (((game.elo[i - 1] ?? 0) - elo) / 400)));
    const words = `level ${i + 1} of ${game.elo.length}: wins ${wins} of 100 games against ${i ? `level ${i}` : "random play"}`;
    return element("option", {value: i + 1, textContent: words, selected: i + 1 === Math.min(3, game.elo.length)});
  });
  byId("level").replaceChildren(...(levels.length ? levels : [element("option", {value: "", textContent: "as strong as a short search"})]));
  byId("persons").parentElement.hidden = game.seats.length < 2;
  const paragraphs = game.rules.split(/\n\nAn action/)[0].split("\n\n").filter(text => !/^ |`/.test(text));  // for people; what follows is for programs
  byId("rules").replaceChildren(...paragraphs.map(text => element("p", {textContent: text.replaceAll("\n", " ")})));
  location.hash = game.name;
  byId("said").textContent = "";
}

async function list() {
  for (const name of await told("/choices")) {
    const each = await told(`/choices/${encodeURIComponent(name)}`);
    if (each.error) { byId("games").append(element("li", {textContent: `${name}: ${each.error}`})); continue; }
    const button = element("button", {}, element("img", {src: pictured(each), alt: ""}), name);
    button.onclick = () => { choose(each, button); byId("chosen").focus(); };
    byId("games").append(element("li", {}, button));
    if (!game || location.hash === `#${name}`) choose(each, button);
  }
}

list();
byId("begin").onclick = begin;
