// Above the rules: who was judged, what came of it, and what stands out.

const ENDINGS = ["shown", "violated"]; // by exit code; any other is incomplete

function overviewOf() {
  return [
    make("section", { "aria-labelledby": "implementations" },
      make("h2", { id: "implementations", class: "unseen" }, "Implementations"),
      make("div", { class: "cards" }, page.runs.map(card))),
    more("What the verdicts mean", make("dl", { class: "meanings" }, ORDER.map((verdict) => [
      make("dt", {}, mark(verdict)), make("dd", {}, MEANINGS[verdict]),
    ]))),
  ];
}

function card(run) {
  const { counts, applicable } = tally(run);
  const judged = `${run.oracle} oracle, ${count(run.events, "event")}`;
  return make("article", { class: "card" },
    make("h3", {}, run.label),
    make("p", { class: "muted" }, [run.language, run.adapter].filter(Boolean).join(" · ")),
    make("p", { class: "figure" },
      make("strong", {}, `${counts.shown} of ${applicable}`),
      make("span", {}, `applicable ${applicable === 1 ? "rule" : "rules"} shown`)),
    make("p", { class: "conclusion" }, icon(ENDINGS[run.exit] || "not shown"), " ", run.conclusion),
    levels(run),
    bar(counts),
    legend(run, counts),
    claims(run),
    facts([
      ["Edition, tier", `${run.edition}, ${run.tier}`],
      ["Judged by", judged],
      ["Rules", run.catalogue && `catalogue ${run.catalogue}`],
      ["Scenarios", run.scenarios],
      ["Explored", run.explored],
      ...run.provenance.map(([name, text]) => [`${name[0].toUpperCase()}${name.slice(1)}`, name === "again" ? make("code", {}, text) : text]),
    ]),
    run.trend.length > 1 ? trend(run) : null,
    run.problems.length ? more(count(run.problems.length, "problem"), list(run.problems)) : null,
    run.unjudged.length ? more(`not judged: ${run.unjudged[0][0]}`, list(run.unjudged.map(([amount, words]) => [make("b", {}, amount), `: ${words}`]))) : null,
    run.known.length ? more(count(run.known.length, "known failure"), list(run.known.map(knownWords))) : null,
    more("Held to, and what it declares", make("p", {}, `${run.terms}.`),
      make("p", {}, `Declares ${run.capabilities.join(", ") || "nothing"}.`)));
}

// How much of each level was claimed and shown; a run of some rules has none.
function levels(run) {
  if (!run.levels.length) return null;
  return make("dl", { class: "levels" }, run.levels.map(([title, state, words, summary]) => [
    make("dt", { title: summary }, title),
    make("dd", { class: slug(state) }, make("b", {}, state), words ? ` ${words}` : ""),
  ]));
}

function legend(run, counts) {
  const told = ORDER.filter((verdict) => counts[verdict] || !["known failure", "errored"].includes(verdict));
  return make("ul", { class: "legend" }, told.map((verdict) => make("li", {},
    counts[verdict]
      ? make("a", { href: `#${new URLSearchParams({ run: run.label, verdict })}` }, legendWords(verdict, counts))
      : make("span", { class: "none" }, legendWords(verdict, counts)))));
}

function legendWords(verdict, counts) {
  return [icon(verdict), make("b", {}, `${counts[verdict]}`), ` ${verdict}`];
}

function claims(run) {
  if (!run.claims.length) return null;
  return make("section", { class: "alert" },
    make("h4", {}, `Claimed, but not shown: ${count(run.claims.length, "capability", "capabilities")}`),
    make("p", {}, run.claims.map(([capability]) => capability).join(", ")),
    more("Which rules", list(run.claims.map(([capability, words, ids]) => [
      make("b", {}, capability), ": ", linked(words, ids),
    ]))));
}

// The words of a claim, in which ids of rules are links.
function linked(words, ids) {
  const known = new Set(ids);
  return words.split(/([A-Z]+-\d+)/).map((each) => (known.has(each) ? ruleLink(each) : each));
}

function knownWords([id, standing, words, link]) {
  return [ruleLink(id), ` ${standing}: `, link ? outside(link, words) : words];
}

// The last runs as bars of what applied, oldest first, and below them what moved.
function trend(run) {
  const entries = run.trend;
  const strips = draw("svg", { class: "trend", viewBox: `0 0 ${entries.length * 10} 40`, preserveAspectRatio: "none", "aria-hidden": "true" });
  entries.forEach((entry, place) => {
    let low = 40;
    for (const verdict of ORDER.slice(0, -1)) {
      const height = (40 * of(entry, verdict)) / (applicableOf(entry) || 1);
      low -= height;
      if (height) strips.append(draw("rect", { class: slug(verdict), x: place * 10 + 1, y: low, width: 8, height }));
    }
  });
  return make("figure", {}, strips,
    make("figcaption", {}, trendWords(entries)),
    more("Run by run", table(["when", "of", "shown", "what moved"], [...entries].reverse().map(trendRow), `Runs of ${run.label}`)));
}

function of(entry, verdict) {
  return entry.counts[page.verdicts.indexOf(verdict)];
}

function applicableOf(entry) {
  return entry.counts.reduce((sum, each) => sum + each, 0) - of(entry, "not applicable");
}

function trendWords(entries) {
  const last = entries.at(-1);
  const news = last.moved.length ? `${count(last.moved.length, "rule")} moved in the last one` : "nothing moved in the last one";
  return `${entries.length} runs since ${entries[0].at.slice(0, 10)}; ${news}`;
}

function trendRow(entry) {
  const moved = entry.moved.map(([id, before, after]) => make("li", {},
    ruleLink(id), ` ${before || "no rule"} → ${after || "no rule"}`));
  return [entry.at.replace("T", " "), [entry.label, entry.version].filter(Boolean).join(", "), `${of(entry, "shown")} of ${applicableOf(entry)}`,
    moved.length ? make("ul", {}, moved) : "–"];
}
