import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { expectAccessible, openPage } from './page.tsx';
import { VIEWS } from './views.ts';

describe('every step has its page, with one heading and nothing that axe finds', () => {
  for (const [type, cases] of Object.entries(VIEWS)) {
    for (const [idx, { title, view }] of cases.entries()) {
      it(`${type} ${idx + 1}`, async () => {
        openPage('/account/flow/aaaa.first', view);
        expect(await screen.findByRole('heading', { level: 1, name: title })).toBeTruthy();
        expect(screen.getAllByRole('heading', { level: 1 })).toHaveLength(1);
        await expectAccessible();
      });
    }
  }
});
