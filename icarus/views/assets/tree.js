"use strict";
// The outline of a search's tree. Nodes are merged as the chosen observer cannot tell them apart; rows are made when they are opened.
const FIRST = 12, MORE = 50;

class Outline {
  constructor(data) {
    this.data = data;
    // The children of node i are below[start[i]] to below[start[i + 1] - 1].
    const parents = data.parent, count = parents.length;
    this.start = new Int32Array(count + 1);
    for (let i = 1; i < count; i++) this.start[parents[i] + 1]++;
    for (let i = 0; i < count; i++) this.start[i + 1] += this.start[i];
    const next = this.start.slice(0, count);
    this.below = new Int32Array(Math.max(0, count - 1));
    for (let i = 1; i < count; i++) this.below[next[parents[i]]++] = i;
    this.observer = data.root_player;
    this.value_of = "mover";
  }

  figures(bases) {
    // Histories that look alike to their player share a record: each record counts once.
    const {visits, availability, rewards, record, names} = this.data, players = names.length;
    const rows = new Set(bases.map(base => record[base]).filter(row => row >= 0));
    let n = 0, m = 0;
    const total = new Array(players).fill(0);
    for (const row of rows) {
      n += visits[row];
      m += availability[row];
      for (let p = 0; p < players; p++) total[p] += rewards[row * players + p] / 1000;
    }
    return {n, m, values: total.map(q => n ? q / n : NaN)};
  }

  root() { return this.made([0], null); }

  made(bases, above) {
    const labels = new Set(bases.map(base => this.data.label[base]));
    const label = labels.size > 1 ? `one of ${labels.size} actions, hidden` : this.data.label[bases[0]];
    return {bases, above, label, player: this.data.player[bases[0]], figures: this.figures(bases), children: null};
  }

  children(node) {
    if (node.children) return node.children;
    const groups = new Map(), {action, seen, names} = this.data;
    for (const base of node.bases)
      for (let i = this.start[base]; i < this.start[base + 1]; i++) {
        const child = this.below[i];
        const look = seen.length ? seen[child * (names.length + 1) + this.observer] : action[child];
        const key = `${look}/${this.data.player[child]}`;
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(child);
      }
    node.children = [...groups.values()].map(bases => this.made(bases, node));
    const total = node.children.reduce((sum, child) => sum + child.figures.n, 0) || 1;
    for (const child of node.children) child.share = child.figures.n / total;
    node.children.sort((a, b) => b.figures.n - a.figures.n);
    return node.children;
  }

  has_children(node) { return node.bases.some(base => this.start[base + 1] > this.start[base]); }

  value(node) {
    const player = this.value_of === "mover" ? node.player : +this.value_of;
    return player >= 0 ? node.figures.values[player] : NaN;
  }
}

class Page {
  constructor(outline) {
    this.outline = outline;
    this.data = outline.data;
    this.controls();
    this.draw();
  }

  controls() {
    const observer = byId("observer"), value = byId("value");
    // Who may look at the tree: each player, he who searched at first, and an observer of every action.
    const {names, root_player} = this.data;
    for (const [p, name] of names.entries()) {
      const searched = p === root_player;
      observer.append(element("option", {value: p, textContent: searched ? `${name} (who searched)` : name, selected: searched}));
    }
    observer.append(element("option", {value: names.length, textContent: "all, every action open"}));
    observer.parentElement.hidden = !this.data.seen.length;
    value.append(element("option", {value: "mover", textContent: "who moves"}));
    names.forEach((name, p) => value.append(element("option", {value: p, textContent: name})));
    observer.onchange = () => { this.outline.observer = +observer.value; this.draw(); };
    value.onchange = () => { this.outline.value_of = value.value; this.draw(); };
    const steps = [...Array(21).keys()].map(i => colour(i / 20));
    byId("key").style.background = `linear-gradient(90deg, ${steps.join()})`;
    byId("more").open = window.innerWidth > 900;
    byId("outline").onkeydown = event => this.key(event);
  }

  facts(facts, note) {
    byId("facts").replaceChildren(...facts.map(([name, text]) => element("tr", {}, element("td", {textContent: name}), element("td", {textContent: text}))));
    byId("note").textContent = note;
  }

  name(player) { return player < 0 ? "chance" : this.data.names[player]; }

  draw() {
    const names = element("div", {className: "row names"}, element("span", {className: "name", textContent: "move"}),
      ...["share", "visits", "value"].map(text => element("span", {textContent: text})));
    const row = this.row(this.outline.root(), 0);
    byId("rows").replaceChildren(names, row);
    this.open(row);
    this.look(row);
  }

  row(node, depth) {
    const {outline} = this, value = outline.value(node), more = outline.has_children(node);
    const row = element("div", {className: "row", tabIndex: -1});
    row.style.setProperty("--depth", depth);
    row.setAttribute("role", "treeitem");
    row.setAttribute("aria-level", depth + 1);
    if (more) row.setAttribute("aria-expanded", "false");
    const who = depth ? this.name(node.player).replace(/^player /, "P") : "";
    const name = element("span", {className: "name" + (depth === 1 && node.bases.includes(this.data.best) ? " best" : ""), title: node.label},
      element("span", {className: "opener", textContent: more ? "▸" : ""}), element("span", {className: "who", textContent: who}),
      depth ? node.label : `root, ${this.name(this.data.root_player)} to move`);
    const bar = element("span", {className: "bar"}), share = depth ? node.share : 1;
    bar.style.width = 100 * share + "%";
    bar.style.background = Number.isNaN(value) ? "var(--faint)" : colour(value);
    row.append(name, element("span", {className: "share", title: (100 * share).toFixed(1) + "%"}, bar),
      element("span", {textContent: node.figures.n.toLocaleString("en")}), element("span", {textContent: number(value)}));
    Object.assign(row, {node, depth});
    row.onclick = event => {
      this.look(row);
      if (event.target.closest(".opener") || event.detail > 1 || !row.held) this.toggle(row);  // an open row is closed by its arrow or two clicks
    };
    return row;
  }

  toggle(row) { row.held ? this.close(row) : this.open(row); }

  open(row) {
    if (row.held || !this.outline.has_children(row.node)) return;
    row.held = [];
    row.setAttribute("aria-expanded", "true");
    row.querySelector(".opener").textContent = "▾";
    this.extend(row, FIRST);
  }

  extend(row, count) {
    const children = this.outline.children(row.node), shown = row.shown || 0;
    const upto = Math.min(children.length, shown + count);
    const made = children.slice(shown, upto).map(child => this.row(child, row.depth + 1));
    row.shown = upto;
    const hasFocus = row.button && document.activeElement === row.button;
    if (row.button) row.button.replaceWith(...made);
    else row.after(...made);
    row.held.push(...made);
    row.button = null;
    if (upto < children.length) {
      const button = element("button", {className: "more", textContent: `and ${children.length - upto} more`, role: "treeitem"});
      button.style.setProperty("--depth", row.depth + 1);
      button.onclick = () => this.extend(row, MORE);
      this.last(row).after(button);
      row.button = button;
    }
    if (hasFocus) {
      this.look(made[0]);
      made[0].focus();
    }
  }

  last(row) {
    // The last element that belongs to a row: its own, or the last below it.
    if (row.button) return row.button;
    const below = row.held?.at(-1);
    return below ? this.last(below) : row;
  }

  close(row) {
    for (const child of row.held ?? []) {
      this.close(child);
      child.remove();
    }
    if (row.button) row.button.remove();
    row.held = row.button = null;
    row.shown = 0;
    if (row.hasAttribute("aria-expanded")) {
      row.setAttribute("aria-expanded", "false");
      row.querySelector(".opener").textContent = "▸";
    }
  }

  key(event) {
    const row = document.activeElement.closest(".row");
    if (!row || !row.node) return;
    const rows = [...byId("rows").querySelectorAll(".row:not(.names)")], at = rows.indexOf(row);
    const above = () => rows.slice(0, at).reverse().find(other => other.depth < row.depth);
    let to = null;
    if (event.key === "ArrowDown") to = rows[at + 1];
    else if (event.key === "ArrowUp") to = rows[at - 1];
    else if (event.key === "ArrowRight") row.held ? to = rows[at + 1] : this.open(row);
    else if (event.key === "ArrowLeft") row.held ? this.close(row) : to = above();
    else if (event.key === "Enter" || event.key === " ") this.toggle(row);
    else return;
    event.preventDefault();
    if (to) {
      this.look(to);
      to.focus();
    }
  }

  look(row) {
    if (this.looked) {
      this.looked.removeAttribute("aria-selected");
      this.looked.tabIndex = -1;
    }
    this.looked = row;
    row.setAttribute("aria-selected", "true");
    row.tabIndex = 0;
    const node = row.node, path = [];
    for (let at = node; at.above; at = at.above) path.unshift(at);
    this.board(node.bases[0]);
    byId("path").textContent = path.map(at => at.label).join("  ") || "the position that was searched";
    const {figures} = node;
    const facts = [["visits", figures.n.toLocaleString("en")], ["times available", figures.m.toLocaleString("en")]];
    figures.values.forEach((value, p) => facts.push([`mean reward of ${this.name(p)}`, number(value)]));
    const legal = Math.max(...node.bases.map(base => this.data.legal[base]));
    if (legal) facts.push(["legal moves after it", legal]);
    const shared = node.above && node.above.figures.n < figures.n;
    this.facts(facts, shared ? "More visits than the move before it: its player cannot tell this history from others." : "");
  }

  board(base) {
    // The board of the node, or of the nearest node above it that has one.
    let at = base;
    const moves = [], notes = [];
    while (at > 0 && this.data.drawn[at] === undefined) {
      moves.unshift(this.data.label[at]);
      at = this.data.parent[at];
    }
    byId("board").innerHTML = this.data.boards[this.data.drawn[at]] ?? "";
    if (this.data.guess) notes.push(`what ${this.name(this.data.root_player)} does not know is drawn at random, as the search draws it`);
    if (moves.length) notes.push(`drawn before ${moves.join("  ")}`);
    byId("since").textContent = notes.join("; ");
  }
}

document.body.classList.toggle("framed", window.self !== window.top);
document.body.classList.toggle("moves", location.hash === "#moves");  // beside a game: the moves first

unpacked(byId("data").textContent).then(data => {
  data.best = data.parent.findIndex((parent, i) => parent === 0 && data.action[i] === data.chosen);
  data.drawn = Object.fromEntries(data.drawn.map((node, i) => [node, i]));
  window.page = new Page(new Outline(data));
  document.body.dataset.ready = "yes";
}).catch(error => { byId("rows").textContent = `This page cannot be shown: ${error}`; });
