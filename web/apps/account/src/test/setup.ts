/** What jsdom lacks and the pages use. */
import { cleanup, configure } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

// A step's page is fetched when it is first shown; on a loaded machine that takes longer than a second.
configure({ asyncUtilTimeout: 5000 });

window.matchMedia ??= (query) => ({
  matches: query === '(hover: hover)',
  media: query,
  onchange: null,
  addListener() {},
  removeListener() {},
  addEventListener() {},
  removeEventListener() {},
  dispatchEvent: () => false,
});

afterEach(() => {
  cleanup();
  sessionStorage.clear();
  localStorage.clear();
  history.replaceState(null, '', '/');
  vi.unstubAllGlobals();
});
