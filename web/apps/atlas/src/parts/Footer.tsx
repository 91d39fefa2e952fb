import { useState } from 'react';

import { type Language, languages } from '../text/index.ts';
import { useText } from '../text/useText.ts';
import { Link } from './Link.tsx';
import { type Appearance, applyAppearance, recallAppearance, remember } from './preferences.ts';

export function Footer() {
  const { t, language, setLanguage } = useText();
  const [appearance, setAppearance] = useState(recallAppearance);
  const appear = (next: Appearance) => {
    setAppearance(next);
    remember('appearance', next);
    applyAppearance(next);
  };
  return (
    <footer className="site-foot">
      <div className="page-width site-foot-row">
        <p>
          {t.footer.line} <Link to="/about">{t.footer.credits}</Link>
        </p>
        <div className="site-foot-choices">
          <label className="choice">
            {t.footer.language}
            <select value={language} onChange={(event) => setLanguage(event.target.value as Language)}>
              {Object.entries(languages).map(([tag, name]) => (
                <option key={tag} value={tag} lang={tag}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label className="choice">
            {t.footer.appearance}
            <select value={appearance} onChange={(event) => appear(event.target.value as Appearance)}>
              {(['system', 'light', 'dark'] as const).map((each) => (
                <option key={each} value={each}>
                  {t.footer[each]}
                </option>
              ))}
            </select>
          </label>
        </div>
      </div>
    </footer>
  );
}
