import type { Texts } from '../text/index.ts';

/** The kind of a place by its GeoNames feature code; codes without a name of their own are plain places. */
export function kindName(code: string, t: Texts): string {
  return Object.hasOwn(t.kinds, code) ? t.kinds[code as keyof Texts['kinds']] : t.kinds.PPL;
}
