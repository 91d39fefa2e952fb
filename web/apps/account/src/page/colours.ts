/** A site's colours in place of ours. */
import { useEffect } from 'react';
import type { Palette, SiteColours } from '@stoa/api';

const NAMES: Record<keyof Palette, string> = {
  accent: '--accent',
  accentStrong: '--accent-strong',
  accentText: '--accent-text',
  accentSurface: '--accent-surface',
};

/** The values are compared once more with what a colour looks like: they become part of a style. */
const COLOUR = /^#[0-9a-f]{6}$/;

export function useColours(colours: SiteColours | null | undefined): void {
  useEffect(() => {
    if (!colours) return;
    const { style } = document.documentElement;
    for (const [part, name] of Object.entries(NAMES) as [keyof Palette, string][]) {
      const pair = [colours.light[part], colours.dark[part]];
      if (pair.every((it) => COLOUR.test(it))) style.setProperty(name, `light-dark(${pair.join(', ')})`);
    }
    return () => {
      for (const name of Object.values(NAMES)) style.removeProperty(name);
    };
  }, [colours]);
}
