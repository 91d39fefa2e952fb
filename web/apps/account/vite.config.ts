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
          groups: [
            { name: 'first', priority: 2, test: /src[\\/](main|App)\.tsx$/, includeDependenciesRecursively: true },
            // What several later files share is one as well: the first holds the name of each.
            {
              name: 'shared',
              priority: 1,
              test: /src[\\/](steps[\\/]passkeyPrompt|parts[\\/](passkey|usePrompt|PromptNote)|page[\\/](dates|fetchedTexts|Obstacle|WithPasskeyTexts)|text[\\/](passkey|later))\.tsx?$/,
              includeDependenciesRecursively: false,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { '/_api': 'http://127.0.0.1:4400' } },
  test: { name: 'account', environment: 'jsdom', setupFiles: ['./src/test/setup.ts'], css: false, testTimeout: 30_000 },
});
