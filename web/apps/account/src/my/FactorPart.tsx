import { useEffect, useRef, useState } from 'react';
import { Button } from '@stoa/ui/Button';
import {
  beginEmailFactor,
  beginFactor,
  beginPhoneFactor,
  forgetBrowsers,
  removeFactor,
  renameFactor,
  renewRecoveryCodes,
  type Ask,
  type Enrolment,
  type Factor,
  type Factors,
  type MemberAccount,
} from '../api/member.ts';
import type { Answer, Failure } from '../api/request.ts';
import { RecoveryCodes } from '../parts/RecoveryCodes.tsx';
import { writtenDate } from '../page/dates.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { AddEmailFactor, AddFactor, AddPhoneFactor, ConfirmFactor } from './AddFactor.tsx';
import { AddPasskey } from './AddPasskey.tsx';
import { Note, type Done } from './Frame.tsx';
import { RenameFactor } from './RenameFactor.tsx';
import type { StepUp } from './useStepUp.ts';

export interface FactorPartProps {
  account: MemberAccount;
  ask: Ask;
  stepUp: StepUp;
  language: string;
  factors: Factors;
  /** They are others now. */
  onChanged: () => void;
}

/** What the member does here. */
type Step =
  | { at: 'list' }
  | { at: 'remove' | 'rename'; factor: Factor }
  | { at: 'confirm'; enrolment: Enrolment; again: () => Promise<Answer<Enrolment>> }
  /** Codes that are shown this once. */
  | { at: 'codes'; codes: readonly string[]; said: string };

const PHONE_KINDS = ['SMS', 'CALL'] as const;

/** What is wrong with a number has a sentence of its own. */
const named = (failure: Failure): Failure =>
  failure.problems.some((it) => it.field === 'phone') ? { ...failure, code: 'PHONE_NUMBER' } : failure;

/** One that was removed meanwhile is as gone as it was to be. */
const goneIsRemoved = (answer: Answer<object>): Answer<object> =>
  'failure' in answer && answer.failure.code === 'NOT_FOUND' ? { value: {} } : answer;

/** Authenticators, codes that are sent, recovery codes, and browsers that don't ask for any. */
export function FactorPart({ account, ask, stepUp, language, factors, onChanged }: FactorPartProps) {
  const text = useAllTexts();
  const [step, setStep] = useState<Step>({ at: 'list' });
  const [failure, setFailure] = useState<Failure | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  const [isSending, setIsSending] = useState(false);

  // Where the step took away what had the focus, it goes to the heading.
  const head = useRef<HTMLHeadingElement>(null);
  const shown = useRef(step);
  useEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    if (document.activeElement === document.body) head.current?.focus();
  }, [step]);

  /** Sends something once; what comes of it goes on in `take`. */
  const act = <Value,>(send: () => Promise<Answer<Value>>, take: (value: Value) => void) => {
    if (isSending) return;
    setIsSending(true);
    setDone(null);
    void stepUp.run(send).then((answer) => {
      setIsSending(false);
      const isGone = answer !== null && 'failure' in answer && answer.failure.code === 'NOT_FOUND';
      setFailure(answer !== null && 'failure' in answer && !isGone ? named(answer.failure) : null);
      // What was acted on is not there any more: what is there is shown.
      if (isGone) onChanged();
      if (answer !== null && 'value' in answer) take(answer.value);
    });
  };
  /** The first factor brings recovery codes. */
  const added = (codes: readonly string[], said: string) => {
    if (codes.length === 0) {
      over(said);
      return;
    }
    setStep({ at: 'codes', codes, said });
    onChanged();
  };
  const over = (said: string) => {
    setStep({ at: 'list' });
    setDone({ text: said });
    onChanged();
  };
  return (
    <section className="my-part" aria-labelledby="factors">
      <h2 id="factors" ref={head} tabIndex={-1} className="my-head">
        {text.factorsTitle}
      </h2>
      <Note failure={failure} done={done} />
      {content()}
    </section>
  );

  function content() {
    switch (step.at) {
      case 'confirm':
        return (
          <ConfirmFactor
            ask={ask}
            stepUp={stepUp}
            enrolment={step.enrolment}
            again={step.again}
            onSentAgain={(enrolment) => {
              setStep({ ...step, enrolment });
            }}
            onConfirmed={(codes) => {
              added(codes, 'sentTo' in step.enrolment ? text.sentFactorReady : text.factorReady);
            }}
            onCancel={() => {
              setStep({ at: 'list' });
            }}
          />
        );
      case 'codes':
        return (
          <>
            <h3 className="my-head">{text.recoveryCodesTitle}</h3>
            <p>{text.recoveryCodesText}</p>
            <RecoveryCodes
              codes={step.codes}
              site={account.site.name}
              onKept={() => {
                over(step.said);
              }}
            />
          </>
        );
      case 'remove':
        return removal(step.factor);
      case 'rename':
        return (
          <RenameFactor
            factor={step.factor}
            isSending={isSending}
            onRename={(name) => {
              act(
                () => renameFactor(ask, step.factor.id, name),
                () => {
                  over(text.passkey.renamed);
                },
              );
            }}
            onCancel={() => {
              setFailure(null);
              setStep({ at: 'list' });
            }}
          />
        );
      case 'list':
        return (
          <>
            {factors.factors.length === 0 ? <p>{text.factorsNone}</p> : list()}
            {factors.factors.length > 0 && codes()}
            {factors.rememberedBrowsers > 0 && browsers()}
            {factors.addable.includes('WEBAUTHN') && (
              <AddPasskey
                ask={ask}
                stepUp={stepUp}
                isVerified={account.emailVerified}
                onAdded={(codes) => {
                  added(codes, text.passkey.ready);
                }}
              />
            )}
            {factors.policy !== 'OFF' && (
              <AddFactor
                isVerified={account.emailVerified}
                isSending={isSending}
                onAdd={(name) => {
                  begin(() => beginFactor(ask, name));
                }}
              />
            )}
            {canAdd('EMAIL') && (
              <AddEmailFactor
                isSending={isSending}
                onAdd={() => {
                  begin(() => beginEmailFactor(ask));
                }}
              />
            )}
            {PHONE_KINDS.some(canAdd) && (
              <AddPhoneFactor
                kinds={PHONE_KINDS.filter(canAdd)}
                isSending={isSending}
                onAdd={(kind, number) => {
                  begin(() => beginPhoneFactor(ask, kind, number));
                }}
              />
            )}
          </>
        );
    }
  }

  function begin(send: () => Promise<Answer<Enrolment>>) {
    act(send, (enrolment) => {
      setStep({ at: 'confirm', enrolment, again: send });
    });
  }

  /** Of codes that are sent a member has one factor of a kind. */
  function canAdd(kind: Factor['type']) {
    const has = factors.factors.some((it) => it.type === kind);
    return account.emailVerified && factors.addable.includes(kind) && !has;
  }

  function nameOf(factor: Factor) {
    switch (factor.type) {
      case 'WEBAUTHN':
      case 'TOTP':
        return factor.name;
      case 'EMAIL':
        return text.emailFactor;
      case 'SMS':
        return text.smsFactor({ number: factor.name });
      case 'CALL':
        return text.callFactor({ number: factor.name });
    }
  }

  function list() {
    return (
      <ul className="my-list">
        {factors.factors.map((it) => (
          <li key={it.id}>
            <div>
              <strong>
                <bdi>{nameOf(it)}</bdi>
              </strong>
              {it.type === 'WEBAUTHN' && (
                <span className="step-quiet">{it.backedUp === true ? text.passkey.synced : text.passkey.kind}</span>
              )}
              <span className="step-quiet">{text.factorMade({ date: writtenDate(it.createdDate, language) })}</span>
              {it.lastUsedDate !== undefined && (
                <span className="step-quiet">{text.lastUsed({ date: writtenDate(it.lastUsedDate, language) })}</span>
              )}
            </div>
            {(it.type === 'WEBAUTHN' || it.type === 'TOTP') && change('rename', it, text.passkey.rename)}
            {change('remove', it, text.remove)}
          </li>
        ))}
      </ul>
    );
  }

  /** Leads to what is changed of a factor. */
  function change(at: 'remove' | 'rename', factor: Factor, label: string) {
    return (
      <Button
        aria-label={`${label}: ${nameOf(factor)}`}
        onPress={() => {
          setDone(null);
          setFailure(null);
          setStep({ at, factor });
        }}
      >
        {label}
      </Button>
    );
  }

  function removal(factor: Factor) {
    return (
      <div role="group" aria-labelledby="remove-factor" className="my-part">
        <h3 id="remove-factor" className="my-head">
          {text.removeTitle({ name: nameOf(factor) })}
        </h3>
        {factors.factors.length === 1 && <p>{text.removeLast}</p>}
        {factor.type === 'WEBAUTHN' && <p>{text.passkey.removeText}</p>}
        <div className="my-actions">
          <Button
            variant="danger"
            autoFocus
            pending={isSending}
            onPress={() => {
              act(
                () => removeFactor(ask, factor.id).then(goneIsRemoved),
                () => {
                  over(text.factorRemoved);
                },
              );
            }}
          >
            {text.remove}
          </Button>
          <Button
            onPress={() => {
              setFailure(null);
              setStep({ at: 'list' });
            }}
          >
            {text.keep}
          </Button>
        </div>
      </div>
    );
  }

  function codes() {
    return (
      <div>
        <p>{text.codesLeft({ n: factors.recoveryCodesLeft })}</p>
        <Button
          pending={isSending}
          onPress={() => {
            act(
              () => renewRecoveryCodes(ask),
              (codes) => {
                setStep({ at: 'codes', codes, said: text.codesReady });
              },
            );
          }}
        >
          {text.newCodes}
        </Button>
        <p className="step-quiet">{text.newCodesText}</p>
      </div>
    );
  }

  function browsers() {
    return (
      <div>
        <p>{text.browsersLeft({ n: factors.rememberedBrowsers })}</p>
        <Button
          pending={isSending}
          onPress={() => {
            act(
              () => forgetBrowsers(ask),
              () => {
                over(text.browsersForgotten);
              },
            );
          }}
        >
          {text.forgetBrowsers}
        </Button>
      </div>
    );
  }
}
