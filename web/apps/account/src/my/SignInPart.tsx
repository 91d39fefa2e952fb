import { useMemo, useState } from 'react';
import type { Problem } from '@stoa/api';
import { Link } from '@stoa/ui/Link';
import { memberCalls, replacePassword, type Ask, type Factors, type MemberAccount } from '../api/member.ts';
import type { Failure } from '../api/request.ts';
import { startUrl } from '../flow/route.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { ConnectionPart } from './ConnectionPart.tsx';
import { EmailPart } from './EmailPart.tsx';
import { FactorPart } from './FactorPart.tsx';
import { Note } from './Frame.tsx';
import { Part } from './Part.tsx';
import { PasswordForm } from './PasswordForm.tsx';
import type { StepUp } from './useStepUp.ts';
import { WithProof, useProof } from './WithProof.tsx';

export interface SignInPartProps {
  account: MemberAccount;
  ask: Ask;
  language: string;
  /** The member has shown that the address is theirs. */
  onVerified: () => void;
  /** The account has this address now, which was shown to be the member's. */
  onEmail: (email: string) => void;
}

/** By what the member signs in: the address, the password, second factors. */
export function SignInPart({ account, ask, language, onVerified, onEmail }: SignInPartProps) {
  const calls = useMemo(() => memberCalls(ask), [ask]);
  const { loaded, stepUp } = useProof(calls);
  return (
    <Part loaded={loaded}>
      {(factors) => (
        <WithProof account={account} calls={calls} factors={factors.factors} stepUp={stepUp}>
          <EmailPart
            account={account}
            ask={ask}
            stepUp={stepUp}
            onVerified={onVerified}
            onChanged={(email) => {
              onEmail(email);
              // Browsers in which no code is asked for are none any more.
              loaded.reload();
            }}
          />
          <PasswordPart account={account} ask={ask} stepUp={stepUp} />
          <ConnectionPart ask={ask} stepUp={stepUp} language={language} onChanged={loaded.reload} />
          {isShown(factors) && (
            <FactorPart
              account={account}
              calls={calls}
              stepUp={stepUp}
              language={language}
              factors={factors}
              codesFor={account.site.name}
              onChanged={loaded.reload}
            />
          )}
        </WithProof>
      )}
    </Part>
  );
}

/** Where the site lets no member add a factor, those who have one still look after it. */
const isShown = ({ policy, factors, rememberedBrowsers = 0 }: Factors): boolean =>
  policy !== 'OFF' || factors.length > 0 || rememberedBrowsers > 0;

function PasswordPart({ account, ask, stepUp }: { account: MemberAccount; ask: Ask; stepUp: StepUp }) {
  const text = useAllTexts();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [isDone, setIsDone] = useState(false);
  const [round, setRound] = useState(0);
  if (!account.hasPassword)
    return (
      <section className="my-part" aria-labelledby="no-password">
        <h2 id="no-password" className="my-head">
          {text.password}
        </h2>
        <p>{text.noPassword}</p>
        <p>
          <Link href={startUrl({ kind: 'RECOVER' })}>{text.recover}</Link>
        </p>
      </section>
    );
  const problems = failure === null ? [] : problemsOf(failure);
  const send = (old: string, password: string) => {
    if (isSending) return;
    setIsSending(true);
    void stepUp
      .run(() => replacePassword(ask, old, password))
      .then((answer) => {
        setIsSending(false);
        setRound((it) => it + 1);
        const isTaken = answer !== null && 'value' in answer;
        setIsDone(isTaken);
        setFailure(answer !== null && 'failure' in answer ? answer.failure : null);
      });
  };
  return (
    <div className="my-part">
      <Note
        failure={problems.length > 0 ? null : failure}
        done={isDone ? { title: text.done.PASSWORD_CHANGED, text: text.doneText.PASSWORD_CHANGED } : null}
      />
      {/* A password that was taken empties the form. */}
      <PasswordForm
        key={isDone ? round : 'form'}
        email={account.email}
        passwordMinLength={account.passwordMinLength}
        problems={problems}
        round={round}
        sending={isSending}
        onSend={send}
      />
    </div>
  );
}

/** By the names of the form's fields. */
const FIELDS: Record<string, string> = { oldPassword: 'old', newPassword: 'password' };

function problemsOf({ code, message, problems }: Failure): Problem[] {
  if (code === '-19976') return [{ field: 'old', code: 'OLD_PASSWORD', message }];
  return problems.map((it) => ({ ...it, field: FIELDS[it.field ?? ''] ?? null }));
}
