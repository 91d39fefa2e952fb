import { sitePath } from '../address/site.ts';

/** What the site says of itself to everybody, asked once at the start. */
export interface Settings {
  readonly siteId: string;
  readonly name: string;
  readonly clientId: string;
  readonly language: string | null;
}

export async function fetchSettings(): Promise<Settings> {
  const response = await fetch(`${sitePath()}/_api/site/v1/public-settings`, {
    headers: { accept: 'application/json' },
  });
  if (!response.ok) throw new Error(`Public settings: status ${response.status}`);
  const body = (await response.json()) as Partial<Record<keyof Settings, unknown>>;
  const { siteId, name, clientId, language } = body;
  if (typeof clientId !== 'string' || clientId === '') throw new Error('Public settings name no client.');
  return {
    siteId: typeof siteId === 'string' ? siteId : '',
    name: typeof name === 'string' && name !== '' ? name : 'Atlas',
    clientId,
    language: typeof language === 'string' ? language : null,
  };
}
