import { texts } from '@stoa/text/vite';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';

/** Where the server answers while the site itself is served by Vite. */
const server = process.env['STOA_URL'] ?? 'http://localhost:4400';

export default defineConfig({
  base: '/',
  plugins: [react(), texts()],
  resolve: { conditions: ['stoa-source', ...defaultClientConditions] },
  server: {
    port: 4401,
    proxy: Object.fromEntries(
      ['/_api', '/v1', '/v2', '/oauth2', '/account'].map((path) => [path, { target: server, xfwd: true }]),
    ),
  },
  build: { target: 'es2023', assetsInlineLimit: 0 },
});
