import { useEffect, useMemo, useRef, useState } from 'react';
import { Link } from '@stoa/ui/Link';
import { askAs, type MemberAccount } from '../api/member.ts';
import { accountUrl, routeOf, startUrl, type AccountSection } from '../flow/route.ts';
import { writtenDate } from '../page/dates.ts';
import { MessagePage } from '../page/FailurePage.tsx';
import { TITLE_ID } from '../page/StepHead.tsx';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import type { AllTexts } from '../text/later.ts';
import { ApplicationPart } from './ApplicationPart.tsx';
import { Frame } from './Frame.tsx';
import { PrivacyPart } from './PrivacyPart.tsx';
import { ProfilePart } from './ProfilePart.tsx';
import { SessionPart } from './SessionPart.tsx';
import { SignInPart } from './SignInPart.tsx';

export interface MyPageProps {
  account: MemberAccount;
  section: AccountSection;
  language: string;
}

const SECTIONS: readonly AccountSection[] = ['profile', 'password', 'sessions', 'privacy'];

const titleOf = (text: AllTexts, section: AccountSection): string =>
  ({
    profile: text.profileTitle,
    password: text.accessTitle,
    sessions: text.sessionsTitle,
    privacy: text.privacyTitle,
  })[section];

/** Where a member looks after the account: each part has an address of its own. */
export function MyPage({ account: opened, section: first, language }: MyPageProps) {
  const text = useAllTexts();
  const [account, setAccount] = useState(opened);
  const [isOut, setIsOut] = useState(false);
  /** The account goes then, or with null is gone. */
  const [leftOn, setLeftOn] = useState<string | null | undefined>(undefined);
  const [section, go] = useSection(first);
  const ask = useMemo(
    () =>
      askAs(opened, () => {
        setIsOut(true);
      }),
    [opened],
  );
  if (leftOn !== undefined) return <Left account={account} date={leftOn} language={language} />;
  if (isOut) return <SignedOut section={section} />;
  return (
    <Frame
      title={titleOf(text, section)}
      site={account.site.name}
      email={account.email}
      nav={<Sections section={section} onGo={go} />}
    >
      {section === 'profile' && <ProfilePart account={account} ask={ask} language={language} />}
      {section === 'password' && (
        <SignInPart
          account={account}
          ask={ask}
          language={language}
          onVerified={() => {
            setAccount({ ...account, emailVerified: true });
          }}
          onEmail={(email) => {
            setAccount({ ...account, email, emailVerified: true });
          }}
        />
      )}
      {section === 'sessions' && (
        <>
          <SessionPart ask={ask} language={language} />
          <ApplicationPart ask={ask} language={language} />
        </>
      )}
      {section === 'privacy' && <PrivacyPart account={account} ask={ask} onLeft={setLeftOn} />}
      <p className="my-foot">
        <Link href={startUrl({ kind: 'SIGN_OUT' })} variant="quiet">
          {text.signOut}
        </Link>
      </p>
    </Frame>
  );
}

function Sections({ section, onGo }: { section: AccountSection; onGo: (section: AccountSection) => void }) {
  const text = useAllTexts();
  return (
    <nav className="my-nav" aria-label={text.accountTitle}>
      <ul>
        {SECTIONS.map((it) => (
          <li key={it}>
            <Link
              href={accountUrl(it)}
              variant="plain"
              {...(it === section ? { 'aria-current': 'page' as const } : {})}
              onClick={(event) => {
                // What opens elsewhere is the browser's.
                if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
                event.preventDefault();
                onGo(it);
              }}
            >
              {titleOf(text, it)}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The part that the address names. Going to another puts the focus on its heading. */
function useSection(first: AccountSection) {
  // The address may be further than where the page was opened, when the browser brings it back.
  const [section, setSection] = useState(() => {
    const route = routeOf(location);
    return route.to === 'account' ? route.section : first;
  });
  const shown = useRef(section);
  useEffect(() => {
    // Without what a sign-in has put behind it.
    history.replaceState(null, '', accountUrl(shown.current));
    const moved = () => {
      const route = routeOf(location);
      if (route.to === 'account') setSection(route.section);
    };
    addEventListener('popstate', moved);
    return () => {
      removeEventListener('popstate', moved);
    };
  }, []);
  useEffect(() => {
    if (shown.current === section) return;
    shown.current = section;
    document.getElementById(TITLE_ID)?.focus();
  }, [section]);
  const go = (next: AccountSection) => {
    if (next === section) return;
    history.pushState(null, '', accountUrl(next));
    setSection(next);
  };
  return [section, go] as const;
}

/** The member has had the account deleted, and is signed out. */
function Left({ account, date, language }: { account: MemberAccount; date: string | null; language: string }) {
  const text = useAllTexts();
  return (
    <MessagePage title={date === null ? text.leftTitle : text.leavingTitle} site={account.site.name}>
      {date === null ? (
        <p>{text.leftText}</p>
      ) : (
        <>
          <p>{text.leavingText({ date: writtenDate(date, language) })}</p>
          <p>{text.leavingLink({ email: account.email })}</p>
        </>
      )}
    </MessagePage>
  );
}

/** The session has ended while the page was open. */
function SignedOut({ section }: { section: AccountSection }) {
  const text = useAllTexts();
  const returnUrl = location.origin + accountUrl(section);
  return (
    <MessagePage
      title={text.outMeanwhileTitle}
      action={
        <Link href={startUrl({ kind: 'SIGN_IN', returnUrl })} variant="primary">
          {text.signIn}
        </Link>
      }
    >
      <p>{text.outMeanwhileText}</p>
    </MessagePage>
  );
}
