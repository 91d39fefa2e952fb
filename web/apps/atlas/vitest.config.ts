import { texts } from '@stoa/text/vite';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [texts()],
  test: { name: 'atlas', include: ['src/**/*.test.{ts,tsx}', 'demo/**/*.test.mjs'] },
});
