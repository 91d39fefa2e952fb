import js from '@eslint/js';
import globals from 'globals';
import hooks from 'eslint-plugin-react-hooks';
import ts from 'typescript-eslint';

/* Imports go one way: api <- client <- apps, ui <- apps. An app never imports another app, and nobody
 * reaches into the insides of a package by a relative path. */
const scope = {
  everything: ['@stoa/*', '@stoa/*/**'],
  apps: ['@stoa/account', '@stoa/account/**', '@stoa/atlas', '@stoa/atlas/**', '@stoa/studio', '@stoa/studio/**'],
  client: ['@stoa/client', '@stoa/client/**'],
  ui: ['@stoa/ui', '@stoa/ui/**'],
};
const outside = {
  regex: '^(\\.\\./)+(packages|apps)/|^(\\.\\./){2,}(api|client|ui|account|atlas|studio)/',
  message: 'Import another package by its name, not by its path.',
};
const mayNotImport = (group, message) => ({
  'no-restricted-imports': ['error', { patterns: [{ group, message }, outside] }],
});

export default ts.config(
  { ignores: ['**/dist/**', '**/node_modules/**', 'packages/api/src/flow.ts'] },
  js.configs.recommended,
  ...ts.configs.strict,
  {
    languageOptions: { globals: { ...globals.browser } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      'max-lines': ['error', 800],
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    plugins: { 'react-hooks': hooks },
    rules: hooks.configs.recommended.rules,
  },
  {
    files: ['**/*.{js,mjs}', '**/*.config.ts', '**/scripts/**'],
    languageOptions: { globals: { ...globals.node } },
    rules: { 'no-console': 'off' },
  },
  {
    files: ['packages/api/**'],
    rules: mayNotImport(scope.everything, 'api imports no other package of this workspace.'),
  },
  { files: ['packages/client/**'], rules: mayNotImport([...scope.apps, ...scope.ui], 'client may import api only.') },
  {
    files: ['packages/ui/**'],
    rules: mayNotImport(scope.everything, 'ui imports no other package of this workspace.'),
  },
  { files: ['apps/**'], rules: mayNotImport(scope.apps, 'Apps do not import each other.') },
);
