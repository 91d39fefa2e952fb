/** The address a person typed, kept for this tab until the flow ends, so that no way through the pages asks for it twice. */
const KEY = 'stoa.account.email';

export function keepEmail(email: string): void {
  try {
    sessionStorage.setItem(KEY, email);
  } catch {
    // Without storage the address lives in the field alone.
  }
}

export function keptEmail(): string {
  try {
    return sessionStorage.getItem(KEY) ?? '';
  } catch {
    return '';
  }
}

export function forgetEmail(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was kept.
  }
}
