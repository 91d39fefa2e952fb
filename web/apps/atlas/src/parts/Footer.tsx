import { nativeName } from '@stoa/text';
import { useState } from 'react';

import { languageTags } from '../text/index.ts';
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
            <select value={language} onChange={(event) => setLanguage(event.target.value)}>
              {languageTags.map((tag) => (
                <option key={tag} value={tag} lang={tag}>
                  {nativeName(tag)}
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
