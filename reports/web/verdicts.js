// The values of the page, and what every view says of verdicts alike.

const page = JSON.parse(document.getElementById("values").textContent);
const rulesById = new Map(page.rules.map((rule) => [rule.id, rule]));

const MEANINGS = {
  "shown": "The situation arose, and every answer was permitted. The only pass.",
  "violated": "An answer came that the rule does not permit.",
  "known failure": "Violated, as the list of known failures expects.",
  "not applicable": "Does not apply to this implementation; the cause is told.",
  "not shown": "Applies, but its situation never arose. Not a pass.",
  "inconclusive": "Nothing could be told from the answers. Not a pass.",
  "errored": "The adapter or the suite broke down. Says nothing of the bus.",
};

// Worst first: the order of legends, filters and bars after what was shown.
const ORDER = ["shown", "violated", "known failure", "errored", "inconclusive", "not shown", "not applicable"];

const slug = (verdict) => verdict.replace(" ", "-");
const familyOf = (id) => id.slice(0, id.lastIndexOf("-"));
const editionsOf = (rule) => (rule.editions || []).map((place) => page.editions[place]);

// What a run says of a rule; null where it says nothing.
function verdictOf(run, id) {
  const told = run.verdicts[id];
  if (!told) return null;
  const [verdict, events, cause = -1, scenarios = []] = told;
  return {
    name: page.verdicts[verdict],
    events,
    cause: cause < 0 ? "" : page.texts[cause],
    scenarios: scenarios.map((place) => page.texts[place]),
  };
}

function tally(run, ids = Object.keys(run.verdicts)) {
  const counts = Object.fromEntries(ORDER.map((verdict) => [verdict, 0]));
  for (const id of ids) if (run.verdicts[id]) counts[page.verdicts[run.verdicts[id][0]]] += 1;
  const judged = Object.values(counts).reduce((sum, each) => sum + each, 0);
  return { counts, applicable: judged - counts["not applicable"] };
}

function icon(verdict) {
  return draw("svg", { class: `icon ${slug(verdict)}`, "aria-hidden": "true", focusable: "false" },
    draw("use", { href: `#icon-${slug(verdict)}` }));
}

function mark(verdict) {
  return make("span", { class: `mark ${slug(verdict)}` }, icon(verdict), verdict);
}

// Shares of a whole as a bar; whoever cannot see it has the numbers beside it.
function bar(counts) {
  const whole = ORDER.reduce((sum, verdict) => sum + counts[verdict], 0) || 1;
  const strip = draw("svg", { class: "bar", viewBox: `0 0 ${whole} 1`, preserveAspectRatio: "none", "aria-hidden": "true" });
  let left = 0;
  for (const verdict of ORDER) {
    if (counts[verdict]) strip.append(draw("rect", { class: slug(verdict), x: left, y: 0, width: counts[verdict], height: 1 }));
    left += counts[verdict];
  }
  return strip;
}

function ruleLink(id) {
  return rulesById.has(id) ? make("a", { href: `#${id}`, class: "id" }, id) : id;
}
