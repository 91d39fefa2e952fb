import type { ReactNode } from 'react';
import type { SiteFace } from '@stoa/api';
import { Card } from '@stoa/ui/Card';
import { Link } from '@stoa/ui/Link';
import { Colonnade, Mark } from '@stoa/ui/Logo';
import { LANGUAGES, nativeName } from '../text/languages.ts';
import { isWebUrl } from '../flow/leave.ts';
import { useColours } from './colours.ts';
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
  /** For pages of several parts. */
  wide?: boolean;
  children: ReactNode;
}

/** The frame of every page: whose site it is, one question, and the language. */
export function Shell({ site, language, onLanguage, languageFailed, ways, wide = false, children }: ShellProps) {
  const text = useText();
  useColours(site?.colours);
  return (
    <div className="account" data-wide={wide || undefined}>
      <header className="account-head">
        {site?.logoUrl && isWebUrl(site.logoUrl) ? (
          <img className="account-logo" src={site.logoUrl} alt={site.name} referrerPolicy="no-referrer" />
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
        {site && <SiteLinks site={site} />}
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

/** The site's own pages about itself. They open beside this one, so that nothing that was typed is lost. */
function SiteLinks({ site }: { site: SiteFace }) {
  const text = useText();
  const links = [
    { url: site.termsUrl, label: text.terms },
    { url: site.privacyUrl, label: text.privacy },
  ].filter((it): it is { url: string; label: string } => it.url !== null && isWebUrl(it.url));
  if (links.length === 0) return null;
  return (
    <ul className="account-links">
      {links.map(({ url, label }) => (
        <li key={label}>
          <Link href={url} variant="quiet" target="_blank" rel="noopener noreferrer">
            {label}
          </Link>
        </li>
      ))}
    </ul>
  );
}
