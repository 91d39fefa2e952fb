import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { name: 'atlas', include: ['src/**/*.test.{ts,tsx}', 'demo/**/*.test.mjs'] } });
