/** The regions of the source, in the order in which they are shown. */
export const regionNames = ['Africa', 'Americas', 'Asia', 'Europe', 'Oceania', 'Antarctic'] as const;

export type Region = (typeof regionNames)[number];

export function isRegion(name: string): name is Region {
  return regionNames.some((region) => region === name);
}
