import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { texts } from '../src/vite.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'texts-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Builds an app whose German texts are these, and gives its code. */
async function built(german: string): Promise<string> {
  const files = {
    'en.ts': `export default { hello: 'Hello {name}', bye: 'Bye' } as const;`,
    'de.ts': `import type en from './en.ts';\nexport default ${german} satisfies Record<keyof typeof en, string>;`,
    'main.js': `import de from './de.ts?icu';\nconsole.log(de);`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const made = await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    plugins: [texts()],
    build: { write: false, minify: false, rolldownOptions: { input: join(folder, 'main.js') } },
  });
  return 'output' in made ? made.output[0].code : '';
}

test('a build carries the compiled texts and nothing that parses them', async () => {
  const code = await built(`{ hello: 'Hallo {name}', bye: 'Tschüs' }`);
  expect(code).toContain('Hallo ');
  expect(code.length).toBeLessThan(1000);
});

test('a build fails on a missing key and on another placeholder', async () => {
  await expect(built(`{ hello: 'Hallo {name}' }`)).rejects.toThrow(/de\.ts:\s+bye is missing/);
  await expect(built(`{ hello: 'Hallo {nam}', bye: 'Tschüs' }`)).rejects.toThrow(
    /hello does not use the text {name}\s+hello uses the text {nam}, which English does not/,
  );
});
