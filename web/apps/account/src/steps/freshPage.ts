/**
 * Whether this tab reloaded its page for a widget already: a policy that still refuses the script isn't an old one, and
 * loading once more would change nothing.
 */
const KEY = 'stoa.account.fresh';

/** Reloads the page for the widget of a script. */
export function loadFresh(scriptUrl: string): void {
  try {
    sessionStorage.setItem(KEY, scriptUrl);
  } catch {
    // Without storage the person sees that it does not help.
  }
  location.reload();
}

export function isFresh(scriptUrl: string): boolean {
  try {
    return sessionStorage.getItem(KEY) === scriptUrl;
  } catch {
    return false;
  }
}

export function forgetFresh(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was kept.
  }
}
