/** The site that stands before the path, `/s/SITE`, where several share a host: everything asked for keeps it. */
const SITE = /^\/s\/[^/]+(?=\/)/;

export const sitePath = (): string => SITE.exec(location.pathname)?.[0] ?? '';

/** A path without the site before it. */
export const withoutSite = (pathname: string): string => pathname.replace(SITE, '');
