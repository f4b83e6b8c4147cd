// One rule: what it says and who says so, what came of it, and what stands behind the verdicts.

function ruleOf(rule) {
  return [
    ruleHead(rule),
    part(2, "Verdicts", worstFirst(rule).map((run) => outcome(run, rule))),
    part(2, "Where it is stated", stated(rule), rule.outside
      ? make("p", { class: "muted" }, "No edition states it; it is taken from other public documents.") : null),
    part(2, "What is left open", (rule.readings || []).map(reading)),
    part(2, "What shows it", evidenceOf(rule)),
    part(2, "Would the tests notice?", faults(rule), generated(rule)),
  ];
}

function ruleHead(rule) {
  const [before, after] = beside(rule);
  const near = (other, words) => (other ? make("a", { href: `#${other.id}`, rel: words }, `${words === "prev" ? "← " : ""}${other.id}${words === "next" ? " →" : ""}`) : "");
  const all = make("a", { href: `#${listed}`, id: "back" }, "All rules");
  return make("header", {},
    make("nav", { "aria-label": "Rules", class: "steps" }, near(before, "prev"), all, near(after, "next")),
    make("h1", { tabindex: "-1" }, make("span", { class: "id" }, rule.id), ` ${rule.title}`),
    make("p", { class: "statement" }, rule.statement || "This catalogue does not have the rule; it is known from a report alone."),
    make("p", { class: "badges" }, [rule.modality, rule.status].filter(Boolean).map((each) => badge(each))),
    facts([
      ["Holds in", (rule.tiers || []).join(", ")],
      ["Editions", editionsOf(rule).join(", ")],
      ["Needs", (rule.needs || []).map((need) => need.replaceAll("|", " or ")).join(", ")],
      ["Unless", (rule.unless || []).join(", ")],
      ["Cannot be shown", rule.never || ""],
    ]));
}

function worstFirst(rule) {
  const rank = (run) => ["violated", "known failure", "errored", "inconclusive", "not shown", "shown", "not applicable", undefined]
    .indexOf(verdictOf(run, rule.id)?.name);
  return [...page.runs].sort((one, other) => rank(one) - rank(other));
}

function outcome(run, rule) {
  const verdict = verdictOf(run, rule.id);
  const example = run.examples[rule.id];
  if (!verdict) return make("article", { class: "outcome" }, make("h3", {}, run.label), make("p", { class: "muted" }, "No verdict."));
  const numbers = [`decided ${count(verdict.events, "event")}`, `in ${count(verdict.scenarios.length, "scenario")}`, `${run.oracle} oracle`];
  if (verdict.name === "violated") numbers.splice(0, 2, `broken in ${count(verdict.scenarios.length, "scenario")}`);
  return make("article", { class: `outcome ${slug(verdict.name)}` },
    make("h3", {}, run.label, " ", mark(verdict.name)),
    make("p", { class: "muted" }, verdict.name === "not applicable" ? "" : numbers.join(", ")),
    verdict.cause ? make("p", { class: "cause" }, verdict.cause) : null,
    example ? counterexample(example, rule) : null,
    verdict.scenarios.length ? more("Its scenarios", list(verdict.scenarios)) : null);
}

function counterexample(example, rule) {
  return make("section", { class: "example" },
    make("h4", {}, "The shortest run that breaks it"),
    example.scenario ? make("p", { class: "muted" }, `From the scenario “${example.scenario}”`) : null,
    example.about ? make("p", {}, example.about) : null,
    page.texts[example.why] ? make("p", { class: "why" }, make("b", {}, "Why it matters: "), page.texts[example.why]) : null,
    make("div", { class: "beside" },
      make("section", { class: "came" }, make("h5", {}, "Seen"), make("code", {}, example.seen)),
      make("section", { class: "allowed" }, make("h5", {}, "Allowed"),
        list(example.allowed.map((each) => make("code", {}, each))) || make("p", {}, "nothing comparable"))),
    make("h5", {}, "Answer by answer"),
    clients(example),
    make("ol", { class: "story" }, example.story.map((told, place) => step(told, place === example.story.length - 1, rule))),
    example.gherkin ? [make("h5", {}, "As a scenario"), code(example.gherkin, `What broke ${rule.id}, as a scenario`, broken(rule))] : null,
    example.again ? [make("h5", {}, "Once more"), code(example.again, `A command that repeats what broke ${rule.id}`)] : null);
}

// One answer; nothing allows the last one.
function step([who, asked, came], breaks, rule) {
  return make("li", { class: breaks ? "breaking" : null },
    who ? `${who}: ` : "", make("code", {}, asked), " → ", make("code", {}, came),
    breaks ? make("strong", {}, " ", icon("violated"), ` breaks ${rule.id}`) : "");
}

// What the names of clients mean, where a run has several.
function clients(example) {
  const named = [...new Set(example.story.map(([who]) => who.split(/[ ,]/)[0]).filter((who) => /^[a-z]\w*$/i.test(who)))];
  if (!named.length) return null;
  return make("p", { class: "muted" }, `${named.join(", ")}: ${count(named.length, "client")}, each with a connection and locks of its own.`);
}

// What is to be said of a line of the scenario that did not hold: it must not read like a pass.
function broken(rule) {
  return (lines) => {
    const last = lines.findLastIndex((line) => line.includes(" asks: "));
    return (place, line) => {
      if (place === last) return `the answer breaks ${rule.id}`;
      return /^\s*Then /.test(line) ? "it was not" : "";
    };
  };
}

// Gherkin, its keywords set off; the button takes it along as it stands.
function code(text, label, noted = () => () => "") {
  const note = noted(text.split("\n"));
  const lines = text.split("\n").flatMap((line, place) => {
    const said = note(place, line);
    const [, indent, word, rest] = /^(\s*)(@\S+|Scenario:|Given|When|Then|And)?(.*)$/.exec(line);
    return [indent, word ? make("b", {}, word) : "", rest, said ? make("strong", { class: "breaking" }, ` ✗ ${said}`) : "", "\n"];
  });
  const shown = make("pre", { tabindex: "0", role: "region", "aria-label": label }, make("code", {}, lines));
  const button = make("button", { type: "button" }, "Copy");
  button.addEventListener("click", () => copy(text, shown, button));
  return make("div", { class: "code" }, button, shown);
}

async function copy(text, shown, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Where a browser gives no clipboard to a file, the text is chosen for the user to copy.
    getSelection().selectAllChildren(shown);
    button.textContent = "Selected";
  }
}

function stated(rule) {
  if (!rule.citations) return null;
  const rows = rule.citations.map(([source, anchor, remark]) => [
    page.sources[source] || source, section(source, anchor), english(source, anchor), remark || "",
  ]);
  return table(["document", "section", "in English", "how it differs"], rows, `Where ${rule.id} is stated`);
}

function section(source, anchor) {
  const told = anchor ? make("code", {}, `#${anchor}`) : "as it stands today";
  const address = page.links[source];
  if (!address) return anchor ? told : "–";
  const to = anchor && page.anchored.includes(source) ? `${address}#${anchor}` : address;
  return make("a", { href: to, rel: "noreferrer" }, told);
}

function english(source, anchor) {
  const address = page.english[source];
  if (!address) return "–";
  return make("a", { href: anchor ? `${address}#${anchor}` : address, rel: "noreferrer" }, "read");
}

function reading(id) {
  const { question, readings, default: usual, why } = page.ambiguities[id];
  const taken = page.runs.filter((run) => run.readings[id]).map((run) => `${run.label} was judged by ${run.readings[id]}.`);
  return make("section", { class: "reading" },
    make("h3", {}, make("span", { class: "id" }, id)),
    make("p", {}, question),
    make("dl", {}, Object.entries(readings).map(([name, meaning]) => [
      make("dt", {}, make("code", {}, name), name === usual ? badge("default") : ""), make("dd", {}, meaning),
    ])),
    make("p", { class: "muted" }, [why, ...taken].join(" ")));
}

function evidenceOf(rule) {
  const told = [
    ["Scenarios", list((rule.scenarios || []).map(([file, name]) => [name, make("span", { class: "muted" }, ` ${file}`)]))],
    ["TLA+ operators", list((rule.operators || []).map((name) => make("code", {}, name)))],
    ["TLA+ properties", list((rule.properties || []).map((name) => make("code", {}, name)))],
    ["Compared graphs", list((rule.edges || []).map(([graph, edges]) => `${graph}, ${count(edges, "edge")}`))],
    ["Mutants of the specs", list((rule.mutants || []).map(([name, killer]) => [make("code", {}, name), killer ? ` noticed by ${killer}` : " not tried"]))],
  ].filter(([, value]) => value);
  return told.length ? facts(told) : null;
}

function faults(rule) {
  if (!rule.faults) return null;
  const audited = rule.faults.filter(([, , result]) => result);
  const killed = audited.filter(([, , result]) => result === "killed").length;
  const equal = audited.filter(([, , result]) => result === "equivalent").length;
  const words = audited.length
    ? `${killed} of ${count(audited.length - equal, "seeded fault")} noticed by the tests of this rule${equal ? `; ${equal} that no test can tell` : ""}.`
    : `${count(rule.faults.length, "seeded fault")}; whether they are noticed was not measured for this page.`;
  return [make("p", {}, words), list(rule.faults.map(([id, summary, result, why]) => [
    make("code", {}, id), result ? badge(result, result) : "", ` ${summary}`, why ? make("span", { class: "muted" }, ` ${why}`) : "",
  ]), { class: "faults" })];
}

function generated(rule) {
  if (!rule.generated) return null;
  const [noticed, of] = rule.generated;
  return make("p", {}, `Of ${count(of, "generated fault")} in a sample that break this rule, scenarios and distilled sequences would have noticed ${noticed}.`);
}
