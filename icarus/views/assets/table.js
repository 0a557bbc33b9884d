// The table: a game is chosen, a seat, and how strong the others are.
let game = null;

const told = async (path, options) => (await fetch(path, options)).json();
const choices = {};  // what the server has told of games
const choice = name => choices[name] ??= told(`/choices/${encodeURIComponent(name)}`);
const pictured = game => `data:image/svg+xml,${encodeURIComponent(game.picture)}`;

async function begin() {
  const body = {game: game.name, seat: +byId("seat").value, level: +byId("level").value, persons: byId("persons").checked ? 2 : 1};
  go(await told("/games", {method: "POST", body: JSON.stringify(body)}));
}

function go(begun) {
  if (begun.error) byId("said").textContent = begun.error;
  else location = `/games/${begun.number}${byId("hints").checked ? "" : "#no-hints"}`;
}

async function choose(name, button) {
  for (const other of document.querySelectorAll("#games button")) other.setAttribute("aria-pressed", other === button);
  location.hash = name;
  byId("chosen").hidden = false;
  byId("begin").disabled = true;
  byId("name").textContent = `${name} is prepared …`;
  const chosen = await choice(name);
  if (button.getAttribute("aria-pressed") !== "true") return;  // another one has been chosen meanwhile
  byId("said").textContent = chosen.error ?? "";
  if (chosen.error) return;
  game = {name, ...chosen};
  byId("begin").disabled = false;
  byId("name").textContent = `${game.name}, ${game.seats.length} players` + (game.length ? `, about ${game.length} decisions` : "");
  byId("picture").src = pictured(game);
  byId("picture").alt = `a position of ${game.name}`;
  byId("seat").replaceChildren(...game.seats.map((name, i) => element("option", {value: i, textContent: game.seats[i] === `player ${i}` ? `${i + 1}` : name})));
  const levels = game.elo.map((elo, i) => {  // a level against the one below it, by the difference of their ratings
    const wins = Math.round(100 / (1 + 10 ** (((game.elo[i - 1] ?? 0) - elo) / 400)));
    const words = `level ${i + 1} of ${game.elo.length}: wins ${wins} of 100 games against ${i ? `level ${i}` : "random play"}`;
    return element("option", {value: i + 1, textContent: words, selected: i + 1 === Math.min(3, game.elo.length)});
  });
  byId("level").replaceChildren(...(levels.length ? levels : [element("option", {value: "", textContent: "as strong as a short search"})]));
  byId("persons").parentElement.hidden = game.seats.length < 2;
  const paragraphs = game.rules.split(/\n\nAn action/)[0].split("\n\n").filter(text => !/^ |`/.test(text));  // for people; what follows is for programs
  byId("rules").replaceChildren(...paragraphs.map(text => element("p", {textContent: text.replaceAll("\n", " ")})));
}

// All games are listed at once; what is asked of each comes one after the other, since some must be compiled first.
async function list() {
  const names = await told("/choices");
  const first = names.find(name => location.hash === `#${name}`) ?? names[0];
  const images = names.map(name => {
    const image = element("img", {alt: ""});
    const button = element("button", {}, image, name);
    button.onclick = () => { choose(name, button); byId("chosen").focus(); };
    byId("games").append(element("li", {}, button));
    if (name === first) choose(name, button);
    return image;
  });
  for (const [i, name] of names.entries()) {
    const each = await choice(name);
    if (!each.error) images[i].src = pictured(each);
  }
}

list();
byId("begin").onclick = begin;
byId("saved").onchange = async () => go(await told("/saved", {method: "POST", body: await byId("saved").files[0].text()}));
