/** Starts the site: its settings name the client, then everything else follows. */
import '@stoa/ui/fonts.css';
import '@stoa/ui/tokens.css';
import '@stoa/ui/base.css';
import './atlas.css';

import { createClient, localStorageTokens } from '@stoa/client';
import { StrictMode } from 'react';
import { type Root, createRoot } from 'react-dom/client';

import { sitePath } from './address/site.ts';
import { fetchSettings } from './api/settings.ts';
import { createQueries } from './api/site.ts';
import { App, Speaking } from './app/App.tsx';
import { applyAppearance, recall, recallAppearance } from './parts/preferences.ts';
import { StartFailure } from './parts/StartFailure.tsx';
import { chooseLanguage, loadTexts } from './text/index.ts';

applyAppearance(recallAppearance());
const element = document.getElementById('root');
if (element === null) throw new Error('The page has no root.');
await start(createRoot(element));

async function start(root: Root): Promise<void> {
  const asked = fetchSettings();
  // Most people's language is known without the settings.
  const wanted = [recall('language'), ...navigator.languages];
  try {
    const settings = await asked;
    const language = chooseLanguage([...wanted, settings.language]);
    const texts = await loadTexts(language);
    const stoa = createClient({
      baseUrl: location.origin + sitePath(),
      clientId: settings.clientId,
      tokens: localStorageTokens(`stoa.tokens.${settings.clientId}`),
    });
    const site = { stoa, settings, queries: createQueries() };
    root.render(
      <StrictMode>
        <App site={site} language={language} texts={texts} />
      </StrictMode>,
    );
  } catch {
    const language = chooseLanguage(wanted);
    root.render(
      <Speaking initial={{ language, texts: await loadTexts(language) }}>
        <StartFailure onRetry={() => void start(root)} />
      </Speaking>,
    );
  }
}
