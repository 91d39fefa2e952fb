/** The site around its pages: language, client, router. */
import { I18nProvider } from 'react-aria-components/I18nProvider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createRouter } from '@tanstack/react-router';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';

import { sitePath } from '../address/site.ts';
import { useLoggedIn } from '../api/member.ts';
import { type Site, SiteContext } from '../api/site.ts';
import { Announcer } from '../parts/Announcer.tsx';
import { Failure } from '../parts/Failure.tsx';
import { Pending } from '../parts/Pending.tsx';
import { remember } from '../parts/preferences.ts';
import { type Texts, loadTexts } from '../text/index.ts';
import { speech } from '../text/speech.ts';
import { SpeechContext, useText } from '../text/useText.ts';
import { type RouterContext, routeTree } from './routes.tsx';

function siteRouter(context: RouterContext) {
  return createRouter({
    routeTree,
    context,
    basepath: sitePath() || '/',
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollRestoration: true,
    defaultPendingMs: 250,
    defaultPendingMinMs: 250,
    defaultPendingComponent: Pending,
    defaultErrorComponent: Failure,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof siteRouter>;
  }
}

export interface AppProps {
  readonly site: Site;
  readonly language: string;
  readonly texts: Texts;
}

export function App({ site, language, texts }: AppProps) {
  useForgetting(site);
  return (
    <Speaking initial={{ language, texts }}>
      <SiteContext value={site}>
        <QueryClientProvider client={site.queries}>
          <Announcer>
            <Pages site={site} />
          </Announcer>
        </QueryClientProvider>
      </SiteContext>
    </Speaking>
  );
}

function Pages({ site }: { readonly site: Site }) {
  const { language } = useText();
  const [router] = useState(() => siteRouter({ ...site, language }));
  return <RouterProvider router={router} context={{ ...site, language }} />;
}

interface SpeakingProps {
  readonly initial: { readonly language: string; readonly texts: Texts };
  readonly children: ReactNode;
}

/** Speaks one language at a time, and tells the document which. */
export function Speaking({ initial, children }: SpeakingProps) {
  const [{ language, texts }, setSpoken] = useState(initial);
  useEffect(() => {
    document.documentElement.lang = language;
    document.documentElement.dir = texts.dir;
  }, [language, texts]);
  const spoken = useMemo(
    () => ({
      ...speech(language, texts),
      setLanguage: (next: string) => {
        void loadTexts(next).then((loaded) => {
          remember('language', next);
          setSpoken({ language: next, texts: loaded });
        });
      },
    }),
    [language, texts],
  );
  return (
    <I18nProvider locale={language}>
      <SpeechContext value={spoken}>{children}</SpeechContext>
    </I18nProvider>
  );
}

/** What only the member could see is forgotten after signing in or out. */
function useForgetting({ stoa, queries }: Site): void {
  const loggedIn = useLoggedIn(stoa);
  const before = useRef(loggedIn);
  useEffect(() => {
    if (before.current === loggedIn) return;
    before.current = loggedIn;
    queries.removeQueries({ queryKey: ['journal'] });
    queries.removeQueries({ queryKey: ['member'] });
  }, [loggedIn, queries]);
}
