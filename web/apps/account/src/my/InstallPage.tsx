import { useCallback, useEffect, useMemo, useState } from 'react';
import type { SiteFace } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { Link } from '@stoa/ui/Link';
import { LoadingState } from '@stoa/ui/States';
import { decideInstall, installerUrl, readInstall, type InstallAddress, type InstallConsent } from '../api/install.ts';
import { readFactors, type Factor } from '../api/member.ts';
import { operatorAccount, operatorCalls } from '../api/owner.ts';
import type { Answer, Failure } from '../api/request.ts';
import { isSafeUrl } from '../flow/leave.ts';
import { MessagePage } from '../page/FailurePage.tsx';
import { StepHead } from '../page/StepHead.tsx';
import { scopeText } from '../page/scopes.ts';
import { WithLaterTexts, useAllTexts } from '../page/WithLaterTexts.tsx';
import { AllowButton } from '../parts/AllowButton.tsx';
import { problemText } from '../text/problems.ts';
import { useStepUp } from './useStepUp.ts';
import { WithProof } from './WithProof.tsx';

export interface InstallPageProps {
  address: InstallAddress;
  /** Tells whose site it is, once that is known. */
  onSite: (site: SiteFace) => void;
  /** Leaves these pages. */
  leave?: (url: string) => void;
}

type Sending = 'INSTALL' | 'DECLINE';

const assign = (url: string) => {
  location.assign(url);
};

/** An owner is asked whether an application may hold what it asks for. Opening the page changes nothing. */
export const InstallPage = ({ language, ...rest }: InstallPageProps & { language: string }) => (
  <WithLaterTexts language={language}>
    <Consent {...rest} />
  </WithLaterTexts>
);

function Consent({ address, onSite, leave = assign }: InstallPageProps) {
  const text = useAllTexts();
  const [answer, setAnswer] = useState<Answer<InstallConsent> | null>(null);
  const [sending, setSending] = useState<Sending | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [round, setRound] = useState(0);
  const calls = useMemo(
    () =>
      operatorCalls((over) => {
        setAnswer({ failure: over });
      }),
    [],
  );
  /** By which the owner proves who they are, once that is asked. */
  const [factors, setFactors] = useState<readonly Factor[]>([]);
  const stepUp = useStepUp(
    useCallback(async () => {
      const found = await readFactors(calls);
      if ('value' in found) setFactors(found.value.factors);
    }, [calls]),
  );

  useEffect(() => {
    let isOver = false;
    void readInstall(address).then((next) => {
      if (isOver) return;
      setAnswer(next);
      if ('value' in next) onSite(next.value.site);
    });
    return () => {
      isOver = true;
    };
  }, [address, onSite, round]);

  if (answer === null) return <LoadingState level={1} label={text.loading} />;
  if ('failure' in answer) {
    return (
      <Refused
        failure={answer.failure}
        address={address}
        onRetry={() => {
          setAnswer(null);
          setRound((it) => it + 1);
        }}
      />
    );
  }

  const { value: consent } = answer;
  const decide = (decision: Sending) => {
    if (sending !== null) return;
    setSending(decision);
    setFailure(null);
    void stepUp
      .run(() => decideInstall(address, decision))
      .then((next) => {
        if (next === null) {
          setSending(null);
          return;
        }
        if ('value' in next && isSafeUrl(next.value.url)) {
          leave(next.value.url);
          return;
        }
        setSending(null);
        if ('value' in next)
          setFailure({ why: 'broken', code: '', message: '', requestId: null, clientId: null, problems: [] });
        else if (next.failure.why === 'refused') setAnswer(next);
        else setFailure(next.failure);
      });
  };
  return (
    <>
      <StepHead title={text.installTitle({ app: consent.appName, site: consent.site.name })} site={consent.site.name}>
        {consent.host !== '' && text.installTo({ host: consent.host })}
      </StepHead>
      <WithProof account={operatorAccount(consent.site)} calls={calls} factors={factors} stepUp={stepUp}>
        <div className="step-stack">
          {consent.isThirdParty && <Callout tone="warn">{text.installOthers({ site: consent.site.name })}</Callout>}
          <p id="install-rights">{text.installMay}</p>
          <ul aria-labelledby="install-rights">
            {consent.scopes === null ? (
              <li>{text.installFull}</li>
            ) : (
              consent.scopes.map((scope) => <li key={scope}>{scopeText(text, scope)}</li>)
            )}
          </ul>
          <p className="step-quiet">{text.consent.installUntil}</p>
          {failure !== null && (
            <Callout tone="bad">{failure.why === 'offline' ? text.offlineText : text.brokenText}</Callout>
          )}
          <AllowButton
            pending={sending === 'INSTALL'}
            onAllow={() => {
              decide('INSTALL');
            }}
          >
            {text.install}
          </AllowButton>
          <Button
            wide
            pending={sending === 'DECLINE'}
            onPress={() => {
              decide('DECLINE');
            }}
          >
            {text.decline}
          </Button>
        </div>
      </WithProof>
    </>
  );
}

function Refused({ failure, address, onRetry }: { failure: Failure; address: InstallAddress; onRetry: () => void }) {
  const text = useAllTexts();
  if (failure.why !== 'refused') {
    const isOffline = failure.why === 'offline';
    const retry = (
      <Button variant="primary" onPress={onRetry}>
        {text.tryAgain}
      </Button>
    );
    return (
      <MessagePage title={isOffline ? text.offlineTitle : text.brokenTitle} action={retry}>
        <p>{isOffline ? text.offlineText : text.brokenText}</p>
      </MessagePage>
    );
  }
  // Only those who may install come further by signing in, perhaps as another person.
  const isStranger = failure.code === 'UNAUTHENTICATED';
  const signIn = isStranger ? (
    <Link href={installerUrl(address)} variant="primary">
      {text.signIn}
    </Link>
  ) : undefined;
  const isOwners = isStranger || failure.code === 'PERMISSION_DENIED';
  return (
    <MessagePage title={text.failedTitle} action={signIn}>
      <p>{isOwners ? text.installOwners : problemText(text, failure.code, failure.message) || text.brokenText}</p>
    </MessagePage>
  );
}
