import { texts } from '@stoa/text/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  base: '/account/',
  plugins: [react(), texts()],
  build: {
    // light-dark() is kept as it is.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The server's content security policy allows files of its own only: nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // What the first page needs is one file: it compresses better, and later steps import from it.
        codeSplitting: {
          groups: [{ name: 'first', test: /src[\\/](main|App)\.tsx$/, includeDependenciesRecursively: true }],
        },
      },
    },
  },
  server: { proxy: { '/_api': 'http://127.0.0.1:4400' } },
  test: { name: 'account', environment: 'jsdom', setupFiles: ['./src/test/setup.ts'], css: false, testTimeout: 30_000 },
});
