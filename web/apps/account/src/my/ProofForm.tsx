import { useEffect, useRef, useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { CodeField } from '@stoa/ui/CodeField';
import { Form, FormActions } from '@stoa/ui/Form';
import { Link } from '@stoa/ui/Link';
import { PasswordField } from '@stoa/ui/PasswordField';
import { TextField } from '@stoa/ui/TextField';
import { PROOF_NEEDED, prove, type Ask, type MemberAccount, type Proof } from '../api/member.ts';
import type { Failure } from '../api/request.ts';
import { startUrl } from '../flow/route.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { wrongText } from './problems.ts';
import { Note } from './Frame.tsx';

const LENGTH = 6;

type Kind = 'PASSWORD' | 'TOTP' | 'RECOVERY_CODE';

export interface ProofFormProps {
  account: MemberAccount;
  ask: Ask;
  /** Members who have a second factor show one, the others their password. */
  hasFactor: boolean;
  onDone: (isProved: boolean) => void;
}

/** Shows once more who the member is, before something changes. */
export function ProofForm({ account, ask, hasFactor, onDone }: ProofFormProps) {
  const text = useAllTexts();
  const box = useRef<HTMLElement>(null);
  const [kind, setKind] = useState<Kind>(hasFactor ? 'TOTP' : 'PASSWORD');
  const [value, setValue] = useState('');
  const [wrong, setWrong] = useState<string | undefined>();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      box.current?.querySelector<HTMLInputElement>('input[name="proof"]')?.focus();
    });
    return () => {
      cancelAnimationFrame(frame);
    };
  }, [kind]);
  const send = () => {
    if (isSending) return;
    setFailure(null);
    if (value.trim() === '' || (kind === 'TOTP' && value.length < LENGTH)) {
      setWrong(value.trim() === '' ? text.problem.required : text.problem.code);
      return;
    }
    setIsSending(true);
    void prove(ask, proofOf(kind, value)).then((answer) => {
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
  const cannot = !hasFactor && !account.hasPassword;
  const isUnusable = failure?.code === PROOF_NEEDED;
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
            <Link href={startUrl({ kind: 'RECOVER' })}>{text.recover}</Link>
          </p>
        </Callout>
      )}
      {!cannot && (
        <Form labelledBy="proof" onSubmit={send}>
          <p className="step-quiet">{explained()}</p>
          {field()}
          <FormActions>
            <Button type="submit" variant="primary" pending={isSending}>
              {text.verify}
            </Button>
          </FormActions>
        </Form>
      )}
      <div className="my-actions">
        {hasFactor && (
          <Button
            variant="link"
            onPress={() => {
              change('');
              setKind(kind === 'TOTP' ? 'RECOVERY_CODE' : 'TOTP');
            }}
          >
            {kind === 'TOTP' ? text.useRecoveryCode : text.useAuthenticator}
          </Button>
        )}
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

  function explained() {
    if (kind === 'PASSWORD') return text.proofText;
    return kind === 'TOTP' ? text.factorText({ site: account.site.name }) : text.recoveryCodeText;
  }

  function field() {
    const all = { name: 'proof', value, onChange: change, error: wrong };
    if (kind === 'TOTP') return <CodeField label={text.codeDigits({ n: LENGTH })} length={LENGTH} {...all} />;
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

function proofOf(kind: Kind, value: string): Proof {
  if (kind === 'PASSWORD') return { password: value };
  return kind === 'TOTP' ? { totpData: { code: value } } : { recoveryCodeData: { code: value } };
}
