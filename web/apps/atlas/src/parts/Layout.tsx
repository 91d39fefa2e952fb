import { Link as UiLink } from '@stoa/ui';
import { Outlet, useRouterState } from '@tanstack/react-router';

import { useSite } from '../api/site.ts';
import { useText } from '../text/useText.ts';
import { Account } from './Account.tsx';
import { Footer } from './Footer.tsx';
import { Link } from './Link.tsx';
import { SearchBox } from './SearchBox.tsx';
import './Layout.css';

/** Head, page and foot of every page. */
export function Layout() {
  const { t } = useText();
  const { settings } = useSite();
  // The home page has the search in its middle.
  const atHome = useRouterState({ select: ({ location }) => location.pathname === '/' });
  return (
    <>
      <UiLink href="#content" variant="plain" className="skip">
        {t.skip}
      </UiLink>
      <header className="site-head">
        <div className="page-width site-head-row">
          <Link to="/" variant="plain" className="site-name" aria-label={`${settings.name}: ${t.nav.home}`}>
            <svg viewBox="0 0 32 32" aria-hidden="true">
              <circle cx="16" cy="16" r="12" />
              <path d="M4 16h24M16 4c-4.2 3.4-6 7.4-6 12s1.8 8.600 6 12M16 4c4.2 3.4 6 7.4 6 12s-1.8 8.6-6 12" />
            </svg>
            <span>Atlas</span>
          </Link>
          <nav aria-label={t.nav.label} className="site-nav">
            <Link to="/countries" variant="plain">
              {t.nav.countries}
            </Link>
            <Link to="/places" variant="plain">
              {t.nav.places}
            </Link>
            <Link to="/journal" variant="plain">
              {t.nav.journal}
            </Link>
          </nav>
          {!atHome && (
            <div className="site-search">
              <SearchBox />
            </div>
          )}
          <Account />
        </div>
      </header>
      <main id="content" className="page-width" tabIndex={-1}>
        <Outlet />
      </main>
      <Footer />
    </>
  );
}
