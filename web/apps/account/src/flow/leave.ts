/** Which addresses may be opened. */

const RUNS_CODE = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'file:']);

/** Whether a URL may be opened. The server checks where it leads; this only makes sure that opening it can't run anything here. */
export function isSafeUrl(url: string): boolean {
  try {
    return !RUNS_CODE.has(new URL(url, location.href).protocol);
  } catch {
    return false;
  }
}

/** Whether a URL is a whole one of the web. */
export function isWebUrl(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
}
