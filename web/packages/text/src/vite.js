/** The part of the build that compiles texts: `import de from './de.ts?icu'`. JavaScript, because Node loads it. */
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { transformWithOxc } from 'vite';
import { compileTexts } from './compile.js';

/** @returns {import('vite').Plugin} */
export function texts() {
  return {
    name: 'stoa-texts',
    enforce: 'pre',
    async load(id) {
      const [file = '', query] = id.split('?');
      if (query !== 'icu') return null;
      const english = join(dirname(file), 'en.ts');
      this.addWatchFile(file);
      this.addWatchFile(english);
      const { compiled, problems } = compileTexts(await read(file), await read(english), basename(file, '.ts'));
      if (problems.length > 0) this.error(`${file}:\n  ${problems.join('\n  ')}`);
      return { code: `export default ${JSON.stringify(compiled)}`, moduleType: 'js' };
    },
  };
}

/** What a file of texts exports. It imports nothing but types.
 *  @param {string} file @returns {Promise<import('./compile.js').Source>} */
async function read(file) {
  const { code } = await transformWithOxc(await readFile(file, 'utf8'), file, { sourcemap: false });
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)).default;
}
