/** The site that stands before the path, `/s/SITE`, where several share a host: everything asked for keeps it. */
export const sitePath = ({ pathname }: Pick<Location, 'pathname'> = location): string =>
  /^\/s\/[^/]+(?=\/)/.exec(pathname)?.[0] ?? '';

/**
 * A path of this site and nothing else: `//other.example` is no path, also where `/.//` hides it, and another site's is not
 * ours.
 */
export function ownPath(path: string | null, here: Pick<Location, 'origin' | 'pathname'> = location): string {
  const home = `${sitePath(here)}/`;
  if (path === null || !URL.canParse(path, here.origin)) return home;
  const url = new URL(path, here.origin);
  const isOwn = url.origin === here.origin && sitePath(url) === sitePath(here);
  return isOwn && !url.pathname.startsWith('//') ? url.pathname + url.search : home;
}
