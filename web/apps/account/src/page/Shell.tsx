import type { ReactNode } from 'react';
import type { SiteFace } from '@stoa/api';
import { Card } from '@stoa/ui/Card';
import { Colonnade, Mark } from '@stoa/ui/Logo';
import { LANGUAGES, nativeName } from '../text/languages.ts';
import { isSafeUrl } from '../flow/leave.ts';
import { useText } from './text.ts';
import './Shell.css';

export interface ShellProps {
  /** Absent until the server answered. */
  site: SiteFace | null;
  language: string;
  onLanguage: (tag: string) => void;
  /** The chosen language could not be fetched. */
  languageFailed: boolean;
  /** Back and away; absent when the page can't be left. */
  ways: ReactNode;
  children: ReactNode;
}

/** The frame of every page: whose site it is, one question, and the language. */
export function Shell({ site, language, onLanguage, languageFailed, ways, children }: ShellProps) {
  const text = useText();
  return (
    <div className="account">
      <header className="account-head">
        {site?.logoUrl && isSafeUrl(site.logoUrl) ? (
          <img className="account-logo" src={site.logoUrl} alt={site.name} />
        ) : (
          <>
            <Mark size="1.75rem" />
            {site && <span className="account-site">{site.name}</span>}
          </>
        )}
      </header>
      <Card as="main" className="account-card">
        {children}
      </Card>
      <footer className="account-foot">
        {ways}
        <label className="account-language">
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <circle cx="10" cy="10" r="7.5" />
            <path d="M2.5 10h15M10 2.5c2.5 2.3 3.5 4.8 3.5 7.5s-1 5.2-3.5 7.5c-2.5-2.3-3.5-4.8-3.5-7.5s1-5.2 3.5-7.5z" />
          </svg>
          <span className="stoa-hidden">{text.language}</span>
          <select
            value={language}
            onChange={(event) => {
              onLanguage(event.target.value);
            }}
          >
            {LANGUAGES.map((tag) => (
              <option key={tag} value={tag} lang={tag}>
                {nativeName(tag)}
              </option>
            ))}
          </select>
        </label>
      </footer>
      {languageFailed && (
        <p role="alert" className="account-note">
          {text.offlineText}
        </p>
      )}
      <div className="account-ground">
        <Colonnade />
      </div>
    </div>
  );
}
