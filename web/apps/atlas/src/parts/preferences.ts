/** What a person chose for this browser. Where storage is refused, a choice lasts as long as the page. */

export type Preference = 'language' | 'appearance';
export type Appearance = 'system' | 'light' | 'dark';

export function recall(name: Preference): string | null {
  try {
    return localStorage.getItem(`atlas.${name}`);
  } catch {
    return null;
  }
}

export function remember(name: Preference, value: string): void {
  try {
    localStorage.setItem(`atlas.${name}`, value);
  } catch {
    // Kept by the page itself.
  }
}

export function recallAppearance(): Appearance {
  const value = recall('appearance');
  return value === 'light' || value === 'dark' ? value : 'system';
}

export function applyAppearance(appearance: Appearance): void {
  if (appearance === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = appearance;
}
