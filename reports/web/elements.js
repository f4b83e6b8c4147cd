// Making elements. Text is always put in as text: nothing that a bus answered is read as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== ""));
  return node;
}

function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// A heading and what is below it; nothing where there is nothing.
function part(level, title, ...children) {
  const below = children.flat(Infinity).filter((child) => child !== null);
  return below.length ? make("section", { class: "part" }, make(`h${level}`, {}, title), below) : null;
}

function list(items, attributes = {}) {
  return items.length ? make("ul", attributes, items.map((item) => make("li", {}, item))) : null;
}

function facts(pairs) {
  const told = pairs.filter(([, value]) => value !== "" && value !== null);
  return make("dl", { class: "facts" }, told.map(([name, value]) => [
    make("dt", {}, name), make("dd", {}, value),
  ]));
}

function more(summary, ...children) {
  return make("details", {}, make("summary", {}, summary), children);
}

function badge(text, kind = "") {
  return make("span", { class: `badge ${kind}` }, text);
}

function table(columns, rows, caption) {
  const head = make("tr", {}, columns.map((name) => make("th", { scope: "col" }, name)));
  const body = rows.map((row) => make("tr", {}, row.map((cell) => make("td", {}, cell))));
  // What can be scrolled must be reached by keyboard.
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    make("table", { class: "plain" }, make("caption", { class: "unseen" }, caption),
      make("thead", {}, head), make("tbody", {}, body)));
}

function count(number, one, several = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : several}`;
}

// An address that somebody wrote into a list; only those of the web are followed.
function outside(address, text) {
  const attributes = { href: address, rel: "noopener noreferrer" };
  return /^https?:\/\//i.test(address) ? make("a", attributes, text) : text;
}
