import js from '@eslint/js';
import globals from 'globals';
import hooks from 'eslint-plugin-react-hooks';
import ts from 'typescript-eslint';
import { arrows } from './scripts/arrows.mjs';

export default ts.config(
  { ignores: ['**/dist/**', '**/node_modules/**', 'packages/api/src/{flow,interface}.ts'] },
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
  { files: ['apps/**', 'packages/**'], plugins: { arrows }, rules: { 'arrows/allowed': 'error' } },
  {
    files: ['apps/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@tanstack/react-router',
              importNames: ['Link'],
              message: 'The link of the kit navigates too: parts/Link.tsx.',
            },
          ],
        },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: "JSXOpeningElement[name.name='a']", message: 'Use the Link of @stoa/ui, or that of the router.' },
      ],
    },
  },
  {
    files: ['apps/account/src/**'],
    ignores: ['apps/account/src/api/request.ts'],
    rules: { 'no-restricted-globals': ['error', { name: 'fetch', message: 'Ask the server with `request` of api/.' }] },
  },
);
