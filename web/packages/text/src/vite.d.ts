import type { Plugin } from 'vite';

/** Compiles files of texts that are imported with `?icu`, and fails on a file that does not go with en.ts beside it. */
export function texts(): Plugin;
