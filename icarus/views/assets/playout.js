"use strict";
// One playout, step by step: who decided by what, the board before it, and what each component captured at the end.
const MOST = 60;

class Page {
  constructor(data) {
    this.data = data;
    this.rows = data.steps.map((step, t) => this.row(step, t));
    byId("steps").append(...this.rows);
    byId("steps").onkeydown = event => this.key(event);
    byId("captured").append(element("h2", {textContent: "the records that were captured, and their changes"}), ...data.captured.map(one => this.component(one)));
    this.look(0);
  }

  row(step, t) {
    const row = element("div", {className: "step", tabIndex: -1},
      element("span", {className: "t", textContent: t}), element("span", {className: "phase " + step.phase, textContent: step.phase}),
      element("span", {className: "who", textContent: step.who}), element("span", {className: "action", textContent: step.action, title: step.action}),
      element("span", {className: "by", textContent: step.by, title: step.by}));
    row.setAttribute("role", "option");
    row.onclick = () => this.look(t);
    return row;
  }

  key(event) {
    const by = {ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity}[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.look(Math.max(0, Math.min(this.rows.length - 1, this.at + by)));
    this.rows[this.at].focus();
  }

  look(t) {
    if (this.at !== undefined) { this.rows[this.at].removeAttribute("aria-selected"); this.rows[this.at].tabIndex = -1; }
    this.at = t;
    this.rows[t].setAttribute("aria-selected", "true");
    this.rows[t].tabIndex = 0;
    const step = this.data.steps[t], last = t === this.data.steps.length - 1;
    byId("board").innerHTML = this.data.boards[t] ?? "";
    byId("where").textContent = last ? "the end of the playout" : t === 0 ? "the state drawn for the root; it may show what is hidden" : `after ${t} action${t > 1 ? "s" : ""}`;
    byId("what").textContent = last ? `rewards: ${this.data.rewards}` : `${step.action}: ${step.why}`;
    byId("values").replaceChildren(...this.values(step));
  }

  values(step) {
    const finite = step.values.map(([, value]) => value).filter(value => value !== null);
    const most = Math.max(0, ...finite), least = Math.min(0, ...finite), shown = step.values.slice(0, MOST);
    const rows = shown.map(([action, value]) => {
      const bar = element("span", {className: "bar"});
      bar.style.width = value === null ? "100%" : `${100 * (value - least) / (most - least || 1)}%`;
      return element("div", {className: "value" + (action === step.action ? " chosen" : "")},
        element("span", {textContent: action}), element("span", {textContent: value === null ? "∞" : number(value)}), element("span", {}, bar));
    });
    if (shown.length < step.values.length) rows.push(element("p", {className: "faint", textContent: `and ${step.values.length - shown.length} more`}));
    return rows;
  }

  component(one) {
    const body = element("tbody"), find = element("input", {className: "find", placeholder: "find a record", type: "search"});
    find.setAttribute("aria-label", `find a record of ${one.name}`);
    const more = element("button", {});
    let room = MOST;
    const fill = () => {
      const found = one.updates.filter(update => update.record.toLowerCase().includes(find.value.toLowerCase()));
      body.replaceChildren(...found.slice(0, room).map(update => element("tr", {},
        element("td", {textContent: update.record}), element("td", {textContent: update.context}),
        element("td", {className: update.new ? "new" : "", textContent: (update.new ? "new: " : "") + update.change}))));
      more.hidden = found.length <= room;
      more.textContent = `and ${found.length - room} more`;
    };
    find.oninput = fill;
    more.onclick = () => { room += 10 * MOST; fill(); };
    fill();
    const head = element("tr", {}, ...["record", "context", "information"].map(text => element("th", {textContent: text})));
    return element("details", {open: one.open},
      element("summary", {}, `${one.name} `, element("span", {className: "faint", textContent: one.summary})),
      ...(one.updates.length > 12 ? [find] : []), element("div", {className: "wide", tabIndex: 0}, element("table", {}, element("thead", {}, head), body)), more);
  }
}

unpacked(byId("data").textContent).then(data => {
  window.page = new Page(data);
  document.body.dataset.ready = "yes";
}).catch(error => { byId("steps").textContent = `This page cannot be shown: ${error}`; });
