// Which view the address asks for: a rule by its id, or the list with what is chosen.

const overview = document.getElementById("overview");
const article = document.getElementById("rule");
const title = document.title;
let place = 0;
let listed = "rules"; // the address of the list as it was last seen
let left = null; // the rule that was looked at before

function show() {
  const asked = location.hash.slice(1);
  const rule = rulesById.get(asked);
  if (rule && !overview.hidden) place = scrollY;
  document.body.classList.toggle("one", Boolean(rule));
  article.hidden = !rule;
  overview.hidden = Boolean(rule);
  if (rule) showRule(rule);
  else showList(asked);
}

function showRule(rule) {
  left = rule.id;
  article.replaceChildren(...ruleOf(rule).filter(Boolean));
  document.title = `${rule.id} ${rule.title} – ${title}`;
  scrollTo(0, 0);
  article.querySelector("h1").focus({ preventScroll: true });
}

function showList(asked) {
  document.title = title;
  listed = asked || "rules";
  const given = new URLSearchParams(asked);
  const chosen = Object.fromEntries(FILTERS.filter((name) => given.get(name)).map((name) => [name, given.get(name)]));
  const form = document.querySelector(".filters");
  for (const name of FILTERS) {
    const input = form.elements[name];
    if (input?.type === "checkbox") input.checked = Boolean(chosen[name]);
    else if (input) input.value = chosen[name] || "";
  }
  choose(chosen);
  if (left) comeBack();
  else if (asked) document.getElementById("rules").scrollIntoView();
}

// From a rule to where it was left, so that a keyboard goes on from there.
function comeBack() {
  scrollTo(0, place);
  matrix.querySelector(`a[href="#${left}"]`)?.focus({ preventScroll: Boolean(place) });
  left = null;
}

function aboutWords() {
  const faulty = page.rules.flatMap((rule) => rule.faults || []);
  const of = (kind) => faulty.filter(([, , result]) => result === kind).length;
  const noticed = page.audited
    ? ` Of ${of("killed") + of("silent")} seeded faults, the tests of their rules noticed ${of("killed")}.` : "";
  return `${count(shownByRuns().length, "rule")}, each cited from the documents; ${count(page.runs.length, "implementation")}.${noticed}`;
}

document.getElementById("about").textContent = aboutWords();
document.getElementById("footer").textContent = `Made by busproof ${page.busproof}. Only “shown” is a pass.`;
overview.append(...overviewOf(), listOf());
addEventListener("hashchange", show);
addEventListener("resize", arrange);
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !article.hidden) location.hash = listed;
});
show();
document.documentElement.dataset.ready = "yes";
