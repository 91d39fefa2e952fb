import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { name: 'atlas', include: ['src/**/*.test.ts', 'demo/**/*.test.mjs'] } });
