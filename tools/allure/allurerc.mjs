// How the Allure page is made; `tools/allure/make` tells where its history lies.

const verdict = (name, title) => ({
  name: title,
  matchers: { message: new RegExp(`^${name}\\b`) },
  groupBy: [{ label: "epic" }],
});

export default {
  name: "busproof: partitioned queues and topics",
  historyPath: process.env.BUSPROOF_ALLURE_HISTORY,
  hideLabels: ["host", "thread"],
  plugins: {
    awesome: {
      options: {
        singleFile: true,
        reportLanguage: "en",
        groupBy: ["epic", "feature", "story"],
      },
    },
  },
  categories: [
    verdict("violated", "Violated"),
    verdict("silent", "Seeded faults that no test noticed"),
    verdict("errored", "Errored: the adapter or the suite broke down"),
    verdict("not shown", "Not shown: applies, and its situation never arose"),
    verdict("inconclusive", "Inconclusive"),
    verdict("known failure", "Known failures"),
  ],
};
