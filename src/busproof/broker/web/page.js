(() => {
"use strict";
const PAUSE = 1500;
const SIZES = ["B", "kB", "MB", "GB"];
const MANY = 5;
const LEAST = 100;
const KEPT = "busproof control token";
const at = (id) => document.getElementById(id);
const number = (count) => count.toLocaleString("en");
let timer, last, shown = "", answered = false;

function made(name, fields = {}, ...inner) {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(fields)) {
    if (key === "class") found.className = value;
    else if (key.startsWith("on")) found.addEventListener(key.slice(2), value);
    else found.setAttribute(key, value);
  }
  found.append(...inner.flat().filter((each) => each !== null));
  return found;
}

const unseen = (text) => made("span", {class: "unseen"}, text);

function size(bytes) {
  let unit = 0;
  while (bytes >= 1000 && unit < SIZES.length - 1) { bytes /= 1000; unit += 1; }
  return `${bytes < 10 && unit ? bytes.toFixed(1) : Math.round(bytes)} ${SIZES[unit]}`;
}

const time = (moment) => new Date(moment).toISOString().replace("T", " ").slice(0, 19) + " UTC";

function pairs(list, told) {
  list.replaceChildren(...told.map(([name, value]) =>
    made("div", {}, made("dt", {}, name), made("dd", {}, String(value)))));
  return list;
}

async function asked(what, body) {
  const token = sessionStorage.getItem(KEPT);
  const headers = token ? {Authorization: `Bearer ${token}`} : {};
  const answer = await fetch(what, body
    ? {method: "POST", headers, body: JSON.stringify(body)} : {headers});
  const told = await answer.json();
  if (answer.status === 401) at("proof").hidden = false;
  if (!answer.ok) throw new Error(told.error);
  return told;
}

function say(text, lost = false) {
  const state = at("state");
  if (state.textContent !== text) state.textContent = text;
  state.classList.toggle("lost", lost);
}

// A logarithmic scale: on a linear one, ordinary messages in a gigabyte would not show.
const filled = (bytes, most) => (bytes > 0 && most > LEAST
  ? Math.min(1, Math.log(1 + bytes / LEAST) / Math.log(1 + most / LEAST)) : 0);

const isEmpty = (entity) => entity.status === "active" && !entity.partitions.some((each) => each.down)
  && !(entity.messages + entity.dead_letters + entity.sessions);

function partition(entity, each, index, mayDisturb) {
  const health = each.down ? "down" : "up";
  const fill = filled(each.bytes, each.most);
  const part = made("i");
  part.style.width = `${fill ? Math.max(2, 100 * fill) : 0}%`;
  const toggles = mayDisturb && entity.kind !== "subscription";
  const verb = each.down ? "Bring up partition " : "Take down partition ";
  const inner = [
    made("span", {class: "number"},
      made("span", {}, unseen(toggles ? verb : "Partition "), `${index}`, unseen(` of ${entity.name}, `)),
      made("span", {class: "health"}, health)),
    made("span", {}, unseen(": "), made("strong", {}, number(each.ready)), unseen(" ready, ")),
    made("span", {class: "muted"}, size(each.bytes), each.locked ? `, ${number(each.locked)} locked` : ""),
    made("span", {class: "fill", "aria-hidden": "true"}, part),
  ];
  const fields = {
    class: `partition${each.down ? " down" : ""}`,
    title: each.most ? `${size(each.bytes)} of ${size(each.most)}` : "",
  };
  if (!toggles) return made("li", {}, made("div", fields, inner));
  const toggle = async () => {
    try {
      await asked(`partitions/${each.down ? "up" : "down"}`, {entity: entity.name, partition: index});
      await look();
    } catch (error) { say(error.message, true); }
  };
  const key = `${entity.name} ${index}`;
  return made("li", {},
    made("button", {...fields, type: "button", onclick: toggle, "data-key": key}, inner));
}

function table(heads, rows) {
  return made("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": heads[0]},
    made("table", {},
      made("thead", {}, made("tr", {}, heads.map((each) => made("th", {scope: "col"}, each)))),
      made("tbody", {}, rows.map((row) =>
        made("tr", {}, row.map((each) => made("td", {}, String(each ?? "")))))),
    ));
}

function listed(entity, name, count, heads, rows) {
  if (!count) return null;
  const more = count > rows.length ? `, of which these are ${number(rows.length)}` : "";
  return made("details", {"data-key": `${entity.name} ${name}`},
    made("summary", {}, `${name}: ${number(count)}${more}`), table(heads, rows));
}

function card(entity, mayDisturb) {
  const kind = [
    entity.partitioned ? `partitioned ${entity.kind}` : `regular ${entity.kind}`,
    entity.requires_session ? "requires sessions" : "",
    entity.forward_to ? `forwards to ${entity.forward_to}` : "",
    entity.status === "active" ? "" : entity.status,
  ].filter(Boolean).join(", ");
  return made("section", {class: "entity", "aria-label": entity.name},
    made("header", {}, made("h2", {}, entity.name), made("p", {class: "kind"}, kind)),
    made("ul", {class: "partitions"},
      entity.partitions.map((each, index) => partition(entity, each, index, mayDisturb))),
    pairs(made("dl", {class: "counts"}), [
      ["messages", number(entity.messages)], ["locked", number(entity.locked)],
      ["scheduled", number(entity.scheduled)], ["dead letters", number(entity.dead_letters)],
    ]),
    listed(entity, "Sessions held", entity.sessions, ["Session", "Messages locked", "Held until"],
      entity.some_sessions.map((each) => [each.id, number(each.messages), time(each.until)])),
    listed(entity, "Locks", entity.locked, ["Sequence number", "Deliveries", "Session", "Locked until"],
      entity.some_locks.map((each) => [each.number, each.deliveries, each.session, time(each.until)])),
  );
}

function draw(told) {
  pairs(at("facts"), [
    ["tier", told.tier], ["edition", told.edition], ["connections", number(told.connections)],
    [told.clock === "virtual" ? "time, moved by request" : "time", time(told.now)],
  ]);
  last = told;
  at("finding").hidden = told.entities.length <= MANY;
  const wanted = at("filter").value.trim().toLowerCase();
  const known = JSON.stringify([told.entities, told.may_disturb, wanted]);
  if (known === shown) return;
  shown = known;
  const key = document.activeElement?.dataset.key;
  const open = [...document.querySelectorAll("details[open]")].map((each) => each.dataset.key);
  const found = told.entities.filter((each) => each.name.toLowerCase().includes(wanted));
  const folded = told.entities.length > MANY && !wanted ? found.filter(isEmpty) : [];
  const cards = (entities) => entities.map((each) => card(each, told.may_disturb));
  at("entities").replaceChildren(...cards(found.filter((each) => !folded.includes(each))));
  if (folded.length) {
    at("entities").append(made("details", {class: "empty", "data-key": "empty"},
      made("summary", {}, `Empty: ${number(folded.length)}`), cards(folded)));
  }
  if (!found.length) {
    at("entities").append(made("p", {class: "muted"}, wanted ? "No entity has a name like that."
      : "There are no queues and no topics yet."));
  }
  for (const each of document.querySelectorAll("details")) each.open = open.includes(each.dataset.key);
  if (key) document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

async function look() {
  clearTimeout(timer);
  try {
    const told = await asked("overview");
    at("proof").hidden = true;
    draw(told);
    const cells = "Live. Each partition tells how many messages are ready in it, and how much all of its messages take. ";
    say(cells + (told.may_disturb ? "A click takes it down, or brings it up again."
      : "It can be taken down where the broker was started with --control."));
    answered = true;
  } catch (error) {
    say(error instanceof TypeError ? "The broker does not answer; this is its last answer."
      : error.message, answered || !at("proof").hidden);
  }
  document.documentElement.dataset.ready = "";
  timer = setTimeout(look, document.hidden ? 10 * PAUSE : PAUSE);
}

at("proof").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(KEPT, at("token").value);
  look();
});
at("filter").addEventListener("input", () => last && draw(last));
document.addEventListener("visibilitychange", () => document.hidden || look());
look();
})();
