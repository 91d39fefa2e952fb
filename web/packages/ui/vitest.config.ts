import { defineConfig } from 'vitest/config';

export default defineConfig({ test: { name: 'ui', environment: 'jsdom', css: false, testTimeout: 30_000 } });
