import { useEffect, useRef, useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { CodeField } from '@stoa/ui/CodeField';
import { Form, FormActions } from '@stoa/ui/Form';
import { Link } from '@stoa/ui/Link';
import { PasswordField } from '@stoa/ui/PasswordField';
import { TextField } from '@stoa/ui/TextField';
import {
  PROOF_NEEDED,
  dataName,
  prove,
  sendProofCode,
  type Factor,
  type FactorAccount,
  type FactorCalls,
  type Proof,
} from '../api/member.ts';
import type { Failure } from '../api/request.ts';
import { startUrl } from '../flow/route.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { wrongText } from './problems.ts';
import { hasPasskeys } from '../parts/passkey.ts';
import { Note } from './Frame.tsx';
import { PasskeyProof } from './PasskeyProof.tsx';
import { PushProof } from './PushProof.tsx';
import { isSent, proofKinds, type ProofKind, type SentKind } from './proofKinds.ts';

const LENGTH = 6;

export interface ProofFormProps {
  account: FactorAccount;
  calls: FactorCalls;
  /** Those who have a second factor show one, the others their password. */
  factors: readonly Factor[];
  onDone: (isProved: boolean) => void;
}

/** Shows once more who is signed in, before something changes. */
export function ProofForm({ account, calls, factors, onDone }: ProofFormProps) {
  const text = useAllTexts();
  const box = useRef<HTMLElement>(null);
  /** The kinds of which the server sends no codes, as it has said. */
  const [refused, setRefused] = useState<readonly ProofKind[]>([]);
  const kinds = proofKinds(factors, account.emailVerified).filter((it) => !refused.includes(it));
  const [kind, setKind] = useState<ProofKind>(kinds[0] ?? 'RECOVERY_CODE');
  /** Where the last code was sent, and of which kind it is. */
  const [sent, setSent] = useState<{ kind: SentKind; to: string } | null>(null);
  const sentTo = sent?.kind === kind ? sent.to : null;
  const waitsToSend = isSent(kind) && sentTo === null;
  const [value, setValue] = useState('');
  const [wrong, setWrong] = useState<string | undefined>();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      box.current?.querySelector<HTMLElement>('input[name="proof"], button[type="submit"]')?.focus();
    });
    return () => {
      cancelAnimationFrame(frame);
    };
  }, [kind, waitsToSend]);
  const refuse = () => {
    setRefused([...refused, kind]);
    setKind(kinds.find((it) => it !== kind) ?? 'RECOVERY_CODE');
  };
  const sendCode = () => {
    if (isSending || !isSent(kind)) return;
    setIsSending(true);
    void sendProofCode(calls, kind).then((answer) => {
      setIsSending(false);
      change('');
      // The address is another one by now, or they were turned off: the other ways are left.
      if ('failure' in answer && answer.failure.problems.some((it) => it.field === dataName(kind))) {
        setSent(null);
        refuse();
        return;
      }
      setFailure('failure' in answer ? answer.failure : null);
      if ('value' in answer) setSent({ kind, to: answer.value });
    });
  };
  const send = () => {
    if (isSending) return;
    setFailure(null);
    if (!isTyped(kind)) return;
    if (waitsToSend) {
      sendCode();
      return;
    }
    const isOfDigits = kind === 'TOTP' || isSent(kind);
    if (value.trim() === '' || (isOfDigits && value.length < LENGTH)) {
      setWrong(value.trim() === '' ? text.problem.required : text.problem.code);
      return;
    }
    setIsSending(true);
    void prove(calls, proofOf(kind, value)).then((answer) => {
      setIsSending(false);
      if ('value' in answer) {
        onDone(true);
        return;
      }
      const isWrong = answer.failure.code === WRONG_PASSWORD || answer.failure.code === 'VERIFICATION_FAILED';
      const code = answer.failure.code === WRONG_PASSWORD ? 'OLD_PASSWORD' : answer.failure.code;
      setWrong(isWrong ? wrongText(text, code, answer.failure.message) : undefined);
      setFailure(isWrong ? null : answer.failure);
    });
  };
  const change = (next: string) => {
    setValue(next);
    setWrong(undefined);
  };
  const isOperator = account.isOperator === true;
  const cannot = kind === 'PASSWORD' && !account.hasPassword;
  const isUnusable = failure?.code === PROOF_NEEDED;
  const ways: Record<ProofKind, string> = {
    PASSWORD: text.password,
    WEBAUTHN: text.passkey.use,
    TOTP: text.useAuthenticator,
    PUSH: text.push.use,
    EMAIL: text.useEmailCode,
    SMS: text.useSmsCode,
    CALL: text.useCallCode,
    RECOVERY_CODE: text.useRecoveryCode,
  };
  return (
    <section ref={box} className="my-part" aria-labelledby="proof">
      <h2 id="proof" className="my-head">
        {text.factorTitle}
      </h2>
      <Note failure={isUnusable ? null : failure} done={null} />
      {(cannot || isUnusable) && (
        <Callout tone="warn" announce="alert">
          <p>{cannot ? text.noPassword : text.proofUnusable}</p>
          <p>
            <Link href={startUrl({ kind: isOperator ? 'OWNER_SIGN_IN' : 'RECOVER' })}>{text.recover}</Link>
          </p>
        </Callout>
      )}
      {kind === 'WEBAUTHN' && (
        <PasskeyProof
          calls={calls}
          onProved={() => {
            onDone(true);
          }}
          onUnusable={refuse}
        />
      )}
      {kind === 'PUSH' && (
        <PushProof
          calls={calls}
          site={account.site.name}
          onProved={() => {
            onDone(true);
          }}
          onUnusable={refuse}
        />
      )}
      {!cannot && isTyped(kind) && (
        <Form labelledBy="proof" onSubmit={send}>
          <p className="step-quiet">{explained(kind)}</p>
          {!waitsToSend && field()}
          <FormActions>
            <Button type="submit" variant="primary" pending={isSending}>
              {waitsToSend ? text.sendCode : text.verify}
            </Button>
          </FormActions>
          {isSent(kind) && !waitsToSend && (
            <Button variant="link" onPress={sendCode}>
              {text.resend}
            </Button>
          )}
        </Form>
      )}
      <div className="my-actions">
        {kinds
          .filter((it) => it !== kind)
          .map((it) => (
            <Button
              key={it}
              variant="link"
              disabledReason={it === 'WEBAUTHN' && !hasPasskeys() ? text.passkey.why.unsupported : undefined}
              onPress={() => {
                change('');
                setFailure(null);
                setKind(it);
              }}
            >
              {ways[it]}
            </Button>
          ))}
        <Button
          variant="link"
          onPress={() => {
            onDone(false);
          }}
        >
          {text.cancel}
        </Button>
      </div>
    </section>
  );

  function explained(of: CodeKind) {
    if (sentTo !== null) return text.codeSentTo({ where: sentTo });
    switch (of) {
      case 'PASSWORD':
        return text.proofText;
      case 'TOTP':
        // An operator's authenticator may name another site.
        return isOperator ? text.passkey.accountFactorText : text.factorText({ site: account.site.name });
      case 'EMAIL':
        return text.emailFactorText;
      case 'SMS':
        return text.smsFactorText;
      case 'CALL':
        return text.callFactorText;
      case 'RECOVERY_CODE':
        return text.recoveryCodeText;
    }
  }

  function field() {
    const all = { name: 'proof', value, onChange: change, error: wrong };
    if (kind === 'TOTP' || isSent(kind))
      return <CodeField label={text.codeDigits({ n: LENGTH })} length={LENGTH} {...all} />;
    if (kind === 'PASSWORD')
      return (
        <PasswordField
          label={text.password}
          autoComplete="current-password"
          showLabel={text.showPassword}
          hideLabel={text.hidePassword}
          {...all}
        />
      );
    return <TextField label={text.recoveryCode} autoComplete="off" spellCheck="false" ltr {...all} />;
  }
}

const WRONG_PASSWORD = '-19976';

/** What is typed. */
type CodeKind = Exclude<ProofKind, 'WEBAUTHN' | 'PUSH'>;

const isTyped = (kind: ProofKind): kind is CodeKind => kind !== 'WEBAUTHN' && kind !== 'PUSH';

function proofOf(kind: CodeKind, value: string): Proof {
  switch (kind) {
    case 'PASSWORD':
      return { password: value };
    case 'TOTP':
      return { totpData: { code: value } };
    case 'EMAIL':
      return { emailData: { code: value } };
    case 'SMS':
      return { smsData: { code: value } };
    case 'CALL':
      return { callData: { code: value } };
    case 'RECOVERY_CODE':
      return { recoveryCodeData: { code: value } };
  }
}
