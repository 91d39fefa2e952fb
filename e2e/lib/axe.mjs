// Accessibility of the page as it stands: every rule of WCAG 2.2 A and AA that can be checked by a program.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** @import { Page } from 'playwright-core' */

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Throws with one line for each violation and the elements it is about.
 * @param {Page} page
 * @param {string} what names the page and the theme
 */
export async function checkAccessibility(page, what) {
  await page.evaluate(source);
  const violations = await page.evaluate(async (tags) => {
    const { axe } = window;
    // What was changed a moment ago, the scheme of colours for one, is drawn by then.
    const drawn = () => new Promise((resolve) => requestAnimationFrame(resolve));
    await drawn();
    await drawn();
    // So is a colour that goes over into another.
    const goesOver = document.getAnimations().filter((it) => it instanceof CSSTransition);
    await Promise.allSettled(goesOver.map((it) => it.finished));
    const results = await axe.run(document, { runOnly: { type: 'tag', values: tags } });
    return results.violations.map(
      (violation) =>
        `${violation.id} (${violation.impact}): ${violation.help}: ${violation.nodes
          .slice(0, 4)
          .map((node) => `${node.target.join(' ')} ${node.any[0]?.message ?? ''}`)
          .join('; ')}`,
    );
  }, TAGS);
  if (violations.length > 0) throw new Error(`${what}:\n${violations.join('\n')}`);
}
