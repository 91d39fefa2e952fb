// Every name that docs/semantics.md gives as its proof is there: a case file, or a test in a file of that name.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, existsSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folders = ["tests", ...readdirSync(join(root, "crates")).map((it) => join("crates", it, "tests"))];

function files(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true })
    .filter((it) => it.endsWith(".rs"))
    .map((it) => join(root, folder, it));
}

const tests = folders.flatMap(files);

function isThere(name) {
  if (name.endsWith(".case")) return existsSync(join(root, "crates/query/cases", name));
  const [file, test] = name.split("::");
  return tests.some((it) => basename(it) === file && new RegExp(`fn ${test}\\(`).test(readFileSync(it, "utf8")));
}

test("each answer names what shows it", () => {
  const rows = readFileSync(join(root, "docs/semantics.md"), "utf8")
    .split("\n")
    .filter((it) => it.startsWith("| ") && !it.startsWith("| question"));
  assert.ok(rows.length > 60, `${rows.length} answers`);
  for (const row of rows) {
    const names = [...row.split(" | ").at(-1).matchAll(/`([a-z_0-9]+\.case|[a-z_]+\.rs::[a-z_0-9]+)`/g)].map((it) => it[1]);
    assert.ok(names.length > 0, `nothing shows: ${row}`);
    for (const name of names) assert.ok(isThere(name), `${name} is not there: ${row}`);
  }
});
