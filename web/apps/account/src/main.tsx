import '@stoa/ui/fonts.css';
import '@stoa/ui/tokens.css';
import '@stoa/ui/base.css';
import './steps/steps.css';
import { createRoot } from 'react-dom/client';
import { App } from './App.tsx';
import { FALLBACK, chosenLanguage, loadCatalogue, pickLanguage } from './text/languages.ts';

async function begin(root: HTMLElement) {
  const query = new URLSearchParams(location.search);
  const asked = pickLanguage([query.get('lang'), ...(query.get('ui_locales') ?? '').split(' '), chosenLanguage()]);
  const wished = asked ?? pickLanguage(navigator.languages);
  const language = wished ?? FALLBACK;
  createRoot(root).render(
    <App language={language} catalogue={await loadCatalogue(language)} languageIsGuess={wished === null} />,
  );
}

const root = document.getElementById('root');
if (root) void begin(root);
