/**
 * The address a person typed, kept for this tab until the flow ends, so that no way through the pages asks for it twice.
 * Sites that share a host keep theirs apart.
 */
import { sitePath } from '../api/site.ts';

const key = () => `stoa.account.email${sitePath()}`;

export function keepEmail(email: string): void {
  try {
    sessionStorage.setItem(key(), email);
  } catch {
    // Without storage the address lives in the field alone.
  }
}

export function keptEmail(): string {
  try {
    return sessionStorage.getItem(key()) ?? '';
  } catch {
    return '';
  }
}

export function forgetEmail(): void {
  try {
    sessionStorage.removeItem(key());
  } catch {
    // Nothing was kept.
  }
}
