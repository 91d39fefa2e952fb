import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readTable, refusal } from './arrows.mjs';

const table = readTable(`# Text

\`\`\`arrows
crates/kernel:
web/packages/api:
web/packages/ui:
web/apps/account: web/packages/api
web/apps/account/src/flow:
web/apps/account/src/page: flow
web/apps/account/src/*: page, flow
except crates/content/src/lib.rs: it holds the state
\`\`\`
`);
const from = (path, name) => refusal(table, `web/apps/account/${path}`, name);

describe('arrows', () => {
  it('table holds the lines of web/, siblings by their path', () => {
    expect([...table.keys()]).toHaveLength(6);
    expect(table.get('web/apps/account/src/page')).toEqual(['web/apps/account/src/flow']);
    expect(table.get('web/apps/account')).toEqual(['web/packages/api']);
    expect(() => readTable('# Nothing')).toThrow('no block of code');
  });

  it('folder may use itself and what its line names', () => {
    expect(from('src/page/Shell.tsx', './text.ts')).toBeNull();
    expect(from('src/page/Shell.tsx', '../flow/leave.ts')).toBeNull();
    expect(from('src/flow/leave.ts', '../page/Shell.tsx')).toContain('src/flow may not use web/apps/account/src/page');
    expect(from('src/flow/deep/leave.ts', '../../page/Shell.tsx')).toContain('may not use');
    expect(from('src/flow/leave.ts', '../lost/x.ts')).toContain('may not use');
  });

  it('ground floor is open to all, main and tests to everything', () => {
    expect(from('src/App.tsx', './page/Shell.tsx')).toBeNull();
    expect(from('src/App.tsx', './lost/x.ts')).toContain('may not use');
    expect(from('src/flow/leave.ts', '../names.ts')).toBeNull();
    expect(from('src/main.tsx', './lost/x.ts')).toBeNull();
    expect(from('src/test/page.tsx', '../page/Shell.tsx')).toBeNull();
    expect(from('src/flow/leave.test.ts', '../page/Shell.tsx')).toBeNull();
  });

  it('package is used by its name, along its line', () => {
    expect(from('src/flow/leave.ts', '@stoa/api')).toBeNull();
    expect(from('src/flow/leave.ts', '@stoa/ui/Link')).toContain('may not use web/packages/ui');
    expect(from('src/flow/leave.ts', '@stoa/lost')).toContain('no line');
    expect(from('src/flow/leave.ts', '../../../../packages/api/src/flow.ts')).toContain('by its name');
    expect(from('src/flow/leave.ts', 'react')).toBeNull();
  });

  it('table of the repository names every app', () => {
    const real = readTable(readFileSync(new URL('../../ARCHITECTURE.md', import.meta.url), 'utf8'));
    expect([...real.keys()]).toEqual(expect.arrayContaining(['web/apps/account', 'web/apps/atlas']));
  });
});
