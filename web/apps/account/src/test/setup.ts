/** What jsdom lacks and the pages use. */
import { cleanup } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

window.matchMedia ??= (query) => ({
  matches: query === '(hover: hover)', media: query, onchange: null,
  addListener() {}, removeListener() {}, addEventListener() {}, removeEventListener() {}, dispatchEvent: () => false,
});

afterEach(() => {
  cleanup();
  sessionStorage.clear();
  localStorage.clear();
  history.replaceState(null, '', '/');
  vi.unstubAllGlobals();
});
