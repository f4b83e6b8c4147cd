// The rules beside the implementations, and the filters that choose among both.

const FILTERS = ["text", "family", "edition", "tier", "verdict", "run", "differ"];
const rows = [];
let matrix, told;

function listOf() {
  matrix = make("table", { class: "matrix", role: "table", "aria-label": "Verdicts on each rule" },
    make("thead", { role: "rowgroup" }, make("tr", { role: "row" },
      ["Rule", "What holds"].map((name) => make("th", { scope: "col", role: "columnheader" }, name)),
      page.runs.map((run, place) => make("th", { scope: "col", role: "columnheader", "data-run": place }, run.label)))),
    families().map(familyRows));
  told = make("p", { class: "told", role: "status" });
  return make("section", { "aria-labelledby": "rules" },
    make("h2", { id: "rules", tabindex: "-1" }, "Rules"), filters(), told, matrix,
    make("p", { class: "empty", hidden: true }, "No rule fits these filters. ", make("a", { href: "#rules" }, "Show all rules")));
}

// The rules that a run can show: those that every form of the report counts.
function shownByRuns() {
  return page.rules.filter((rule) => !rule.never);
}

function families() {
  const known = page.families.map(([id, title]) => ({ id, title, rules: [] }));
  const byId = new Map(known.map((family) => [family.id, family]));
  for (const rule of page.rules) {
    const id = familyOf(rule.id);
    if (!byId.has(id)) {
      byId.set(id, { id, title: "rules that this catalogue does not have", rules: [] });
      known.push(byId.get(id));
    }
    byId.get(id).rules.push(rule);
  }
  return known.filter((family) => family.rules.length);
}

function familyRows(family) {
  const ids = family.rules.map((rule) => rule.id);
  const head = make("tr", { role: "row", class: "head" },
    make("th", { scope: "rowgroup", role: "rowheader", colspan: 2, "aria-colspan": 2 }, make("b", {}, family.id), ` ${family.title}`),
    page.runs.map((run, place) => {
      const { counts, applicable } = tally(run, ids);
      return cell(place, applicable ? `${counts.shown} of ${applicable}` : "–");
    }));
  return make("tbody", { role: "rowgroup", "data-family": family.id }, head, family.rules.map(ruleRow));
}

function ruleRow(rule) {
  const verdicts = page.runs.map((run) => verdictOf(run, rule.id));
  const row = make("tr", { role: "row" },
    make("th", { scope: "row", role: "rowheader" }, ruleLink(rule.id)),
    make("td", { role: "cell", class: "title" }, rule.title),
    verdicts.map((verdict, place) => (verdict
      ? cell(place, make("span", {}, mark(verdict.name), verdict.name === "shown" ? times(verdict.events) : ""))
      : cell(place, make("span", { class: "mark none" }, "–")))));
  const text = `${rule.id} ${rule.title} ${rule.statement}`.toLowerCase();
  rows.push({ row, rule, text, verdicts: verdicts.map((verdict) => (verdict ? verdict.name : "")) });
  return row;
}

function times(events) {
  return make("span", { class: "events" }, ` ${events.toLocaleString("en")}×`);
}

function cell(place, ...children) {
  return make("td", { role: "cell", "data-run": place },
    make("span", { class: "who" }, page.runs[place].label), children);
}

function filters() {
  const tiers = [...new Set(page.rules.flatMap((rule) => rule.tiers || []))];
  const form = make("form", { class: "filters", role: "search", "aria-label": "Choose rules" },
    field("text", "Search", make("input", { type: "search", name: "text", id: "filter-text", placeholder: "KEY-08, session, duplicate …" })),
    choice("family", "Family", families().map((family) => [family.id, `${family.id} ${family.title}`])),
    choice("edition", "Edition", page.editions.map((each) => [each, each])),
    choice("tier", "Tier", tiers.map((each) => [each, each])),
    choice("verdict", "Verdict", ORDER.map((each) => [each, each])),
    page.runs.length > 1 ? choice("run", "Implementation", page.runs.map((run) => [run.label, run.label])) : null,
    page.runs.length > 1 ? make("label", { class: "check" }, make("input", { type: "checkbox", name: "differ", value: "yes" }), "Only where they differ") : null,
    make("button", { type: "reset" }, "Show all"));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => keep(form));
  form.addEventListener("reset", () => setTimeout(() => keep(form)));
  return form;
}

function field(name, label, input) {
  return make("div", { class: `field ${name}` }, make("label", { for: `filter-${name}` }, label), input);
}

function choice(name, label, options) {
  const all = make("option", { value: "" }, "all");
  return field(name, label, make("select", { name, id: `filter-${name}` }, all,
    options.map(([value, text]) => make("option", { value }, text))));
}

// The address keeps what was chosen, so that it can be sent to somebody.
function keep(form) {
  const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  listed = `${chosen}` || "rules";
  history.replaceState(null, "", `#${listed}`);
  choose(Object.fromEntries(chosen));
}

function choose(chosen) {
  const seen = page.runs.map((run) => isSeen(run, chosen));
  let found = 0;
  for (const { row, rule, text, verdicts } of rows) {
    const fits = fitsRule(rule, text, chosen) && fitsVerdicts(verdicts.filter((_, place) => seen[place]), chosen);
    row.hidden = !fits;
    found += fits;
  }
  for (const body of matrix.tBodies) {
    body.hidden = [...body.rows].slice(1).every((row) => row.hidden);
    body.rows[0].querySelectorAll("td").forEach((each) => { each.classList.toggle("partly", [...body.rows].some((row) => row.hidden)); });
  }
  for (const each of matrix.querySelectorAll("[data-run]")) each.hidden = !seen[each.dataset.run];
  matrix.hidden = !found;
  document.querySelector(".empty").hidden = found > 0;
  sayFound(found, seen.filter(Boolean).length, chosen);
  arrange();
}

// An implementation is seen where it was held to what was chosen.
function isSeen(run, { run: label, edition, tier }) {
  return (!label || run.label === label) && (!edition || run.edition === edition) && (!tier || run.tier === tier);
}

function fitsRule(rule, text, { family, edition, tier, text: words }) {
  return (!family || familyOf(rule.id) === family)
    && (!edition || editionsOf(rule).includes(edition))
    && (!tier || (rule.tiers || []).includes(tier))
    && (!words || words.toLowerCase().split(/\s+/).every((word) => text.includes(word)));
}

// The rules before and after a rule, among those chosen if it is one of them.
function beside(rule) {
  const among = rows.filter(({ row }) => !row.hidden).map((each) => each.rule);
  const ordered = among.includes(rule) ? among : page.rules;
  const place = ordered.indexOf(rule);
  return [ordered[place - 1], ordered[place + 1]];
}

function fitsVerdicts(verdicts, { verdict, differ }) {
  return (!verdict || verdicts.includes(verdict)) && (!differ || new Set(verdicts).size > 1);
}

function sayFound(found, seen, { edition, tier }) {
  const who = page.runs.length > 1 ? `, ${seen} of ${count(page.runs.length, "implementation")}` : "";
  const held = [edition, tier].filter(Boolean).join(", ");
  const none = !seen && held ? ` (none of them was held to ${held})` : "";
  const beyond = rows.filter(({ rule, row }) => rule.never && !row.hidden).length;
  const more = beyond ? `, and ${beyond} that no run can show` : "";
  told.textContent = `${found - beyond} of ${count(shownByRuns().length, "rule")}${more}${who}${none}`;
}

// Columns where there is room for them, and else one rule below the other.
function arrange() {
  const seen = matrix.querySelectorAll("thead th[data-run]:not([hidden])").length;
  const font = parseFloat(getComputedStyle(document.documentElement).fontSize);
  matrix.classList.toggle("stacked", matrix.parentElement.clientWidth < (26 + 7 * seen) * font);
}
