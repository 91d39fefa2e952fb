import { texts } from '@stoa/text/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

/**
 * The folder of a file of texts that are fetched later, as the beginning of its name. The first page's texts alone are named by
 * their language: scripts/budget.mjs counts these.
 */
function folderOfTexts(module: string | null): string {
  const folder = /[\\/]text[\\/](\w+)[\\/]/.exec(module ?? '')?.[1];
  return folder === undefined ? '' : `${folder}-`;
}

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
        chunkFileNames: (chunk) => `assets/${folderOfTexts(chunk.facadeModuleId)}[name]-[hash].js`,
        // What the first page needs is one file: it compresses better, and later steps import from it.
        codeSplitting: {
          groups: [
            { name: 'first', priority: 2, test: /src[\\/](main|App)\.tsx$/, includeDependenciesRecursively: true },
            // What several later files share is one as well, with what they need of packages: the first holds the name of each.
            {
              name: 'shared',
              priority: 1,
              test: /node_modules[\\/]react-|src[\\/](steps[\\/]passkeyPrompt|flow[\\/]usePolling|parts[\\/](?!push)\w+|page[\\/](dates|fetchedTexts|Obstacle|With\w+Texts)|text[\\/](passkey|consent|push|provider|later)|api[\\/](emailChange|push)|(CodeField|Checkbox))\.(tsx?|css)$/,
              includeDependenciesRecursively: false,
            },
            // So is what pages of accounts share, of members and of those who run sites; not what one of them has alone.
            {
              name: 'own',
              priority: 1,
              test: /src[\\/](my[\\/](?!AccountGate|ApplicationPart|ChangeEmail|ConnectionPart|ContactPart|EmailPart|EndingList|EntryForm|EntryList|FieldList|InstallPage|MyPage|OwnerPage|PrivacyPart|ProfilePart|SessionPart|SignInPart)\w+|api[\\/](owner|passkey)|parts[\\/]push|page[\\/]scopes)\.(tsx?|css)$/,
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
