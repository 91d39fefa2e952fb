/** The site that stands before the path, `/s/SITE`, where several share a host: everything asked for keeps it. */
const SITE = /^\/s\/[^/]+(?=\/)/;

export const sitePath = (): string => SITE.exec(location.pathname)?.[0] ?? '';

/** Puts the site before the path of this page, where it has none: what is asked for and linked to from here goes to that site. */
export function nameSite(site: string): void {
  if (sitePath() === '') history.replaceState(history.state, '', `/s/${encodeURIComponent(site)}${location.pathname}`);
}

/** A path without the site before it. */
export const withoutSite = (pathname: string): string => pathname.replace(SITE, '');
