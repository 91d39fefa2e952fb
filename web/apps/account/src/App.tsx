import { Suspense, lazy, useEffect, useState, type ReactNode } from 'react';
import type { SiteFace } from '@stoa/api';
import { LoadingState } from '@stoa/ui/States';
import { accountUrl, routeOf } from './flow/route.ts';
import { useFlow } from './flow/useFlow.ts';
import { Boundary } from './page/Boundary.tsx';
import { FailurePage } from './page/FailurePage.tsx';
import { Shell } from './page/Shell.tsx';
import { TextProvider } from './page/text.ts';
import { StepPage, WaysOut } from './steps/StepPage.tsx';
import { type Catalogue, loadCatalogue, pickLanguage, rememberLanguage } from './text/languages.ts';

/** Few people open these; the others need not load them. */
const AddressPage = lazy(() => import('./page/AddressPage.tsx').then((it) => ({ default: it.AddressPage })));
const AccountGate = lazy(() => import('./my/AccountGate.tsx').then((it) => ({ default: it.AccountGate })));
const OwnerPage = lazy(() => import('./my/OwnerPage.tsx').then((it) => ({ default: it.OwnerPage })));
const TokenPage = lazy(() => import('./page/TokenPage.tsx').then((it) => ({ default: it.TokenPage })));
const InstallPage = lazy(() => import('./my/InstallPage.tsx').then((it) => ({ default: it.InstallPage })));

export interface AppProps {
  /** Loaded before the first drawing, so that no page flickers from one language to another. */
  language: string;
  catalogue: Catalogue;
  /** Nothing the person asked for: the site's own language may still win. */
  languageIsGuess: boolean;
}

/** The account pages: one address, one flow, one step at a time. */
export function App({ language: first, catalogue: firstCatalogue, languageIsGuess }: AppProps) {
  const [route, setRoute] = useState(() => routeOf(location));
  // Opened in the same tab, another link differs only behind `#`; the browser then loads nothing.
  useEffect(() => {
    const moved = () => {
      setRoute((old) => (old.to === 'flow' || old.to === 'start' ? old : routeOf(location)));
    };
    addEventListener('hashchange', moved);
    return () => {
      removeEventListener('hashchange', moved);
    };
  }, []);

  const flow = useFlow(route);
  const [{ language, text }, setLanguage] = useState({ language: first, text: firstCatalogue });
  const [isGuess, setIsGuess] = useState(languageIsGuess);
  const [languageFailed, setLanguageFailed] = useState(false);
  const [site, setSite] = useState<SiteFace | null>(null);

  const siteLanguage = (flow.view?.site ?? site)?.language;
  useEffect(() => {
    const wish = isGuess ? pickLanguage([siteLanguage]) : null;
    if (wish !== null)
      loadCatalogue(wish).then(
        (next) => {
          setLanguage({ language: wish, text: next });
        },
        () => undefined,
      );
  }, [siteLanguage, isGuess]);

  useEffect(() => {
    document.documentElement.lang = language;
    document.documentElement.dir = text.dir;
  }, [language, text]);

  const choose = (tag: string) => {
    setIsGuess(false);
    rememberLanguage(tag);
    setLanguageFailed(false);
    loadCatalogue(tag).then(
      (next) => {
        setLanguage({ language: tag, text: next });
      },
      () => {
        setLanguageFailed(true);
      },
    );
  };

  const broken = { why: 'broken', code: '', message: '', requestId: null, clientId: null, problems: [] } as const;
  return (
    <TextProvider value={text}>
      <Shell
        site={flow.view?.site ?? site}
        language={language}
        onLanguage={choose}
        languageFailed={languageFailed}
        wide={route.to === 'account'}
        ways={flow.view && <WaysOut view={flow.view} flow={flow} />}
      >
        <Boundary
          fallback={
            <FailurePage
              failure={broken}
              start={flow.start}
              onRetry={() => {
                location.reload();
              }}
            />
          }
        >
          {page()}
        </Boundary>
      </Shell>
    </TextProvider>
  );

  function page() {
    if ('token' in route && route.to !== 'flow')
      return later(<TokenPage key={route.token} {...route} language={language} onSite={setSite} />);
    if (route.to === 'security') return later(<OwnerPage language={language} onSite={setSite} />);
    if (route.to === 'install')
      return later(<InstallPage address={route.address} language={language} onSite={setSite} />);
    if (route.to === 'account') {
      const returnUrl = location.origin + accountUrl(route.section);
      return later(
        <AccountGate
          section={route.section}
          language={language}
          onSite={setSite}
          onStranger={() => {
            setRoute({ to: 'start', start: { kind: 'SIGN_IN', returnUrl }, linkIsOver: false });
          }}
        />,
      );
    }
    if (route.to === 'noInvite') return later(<AddressPage title={text.inviteTitle} text={text.inviteText} />);
    if (route.to === 'unknown') return later(<AddressPage title={text.unknownPageTitle} text={text.unknownPageText} />);
    if (route.to === 'error') return later(<AddressPage code={route.code} clientId={route.clientId} />);
    if (flow.view)
      return <StepPage view={flow.view} flow={flow} linkIsOver={route.to === 'start' && route.linkIsOver} />;
    if (flow.failure) return <FailurePage failure={flow.failure} start={flow.start} onRetry={flow.refresh} />;
    return <LoadingState level={1} label={text.loading} />;
  }

  function later(page: ReactNode) {
    return <Suspense fallback={<LoadingState level={1} label={text.loading} />}>{page}</Suspense>;
  }
}
