import { useEffect, useRef, useState } from 'react';
import { Button } from '@stoa/ui/Button';
import {
  addPasswordFactor,
  beginEmailFactor,
  beginFactor,
  beginPhoneFactor,
  forgetBrowsers,
  removeFactor,
  renameFactor,
  renewRecoveryCodes,
  type Enrolment,
  type Factor,
  type FactorAccount,
  type FactorCalls,
  type Factors,
} from '../api/member.ts';
import { beginPush } from '../api/push.ts';
import type { Answer, Failure } from '../api/request.ts';
import { RecoveryCodes } from '../parts/RecoveryCodes.tsx';
import { writtenDate } from '../page/dates.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { AddFactor, AddPhoneFactor, AddPlainFactor, ConfirmFactor } from './AddFactor.tsx';
import { AddPasskey } from './AddPasskey.tsx';
import { AddPush } from './AddPush.tsx';
import { Note, type Done } from './Frame.tsx';
import { TOO_MANY_BROWSERS } from './problems.ts';
import { RenameFactor } from './RenameFactor.tsx';
import type { StepUp } from './useStepUp.ts';

export interface FactorPartProps {
  account: FactorAccount;
  calls: FactorCalls;
  stepUp: StepUp;
  language: string;
  factors: Factors;
  /** Of what the file of recovery codes says that they are for it. */
  codesFor: string;
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

/** The kinds that have a name of the member's own. */
const NAMED: readonly Factor['type'][] = ['WEBAUTHN', 'TOTP', 'PUSH'];

/** What is wrong with a number has a sentence of its own. */
const named = (failure: Failure): Failure =>
  failure.problems.some((it) => it.field === 'phone') ? { ...failure, code: 'PHONE_NUMBER' } : failure;

/** As many browsers as an account can have are said to be that. */
const tooManyBrowsers = <Value,>(answer: Answer<Value>): Answer<Value> =>
  'failure' in answer && answer.failure.code === 'TOO_MANY'
    ? { failure: { ...answer.failure, code: TOO_MANY_BROWSERS } }
    : answer;

/** One that was removed meanwhile is as gone as it was to be. */
const goneIsRemoved = (answer: Answer<object>): Answer<object> =>
  'failure' in answer && answer.failure.code === 'NOT_FOUND' ? { value: {} } : answer;

/** Authenticators, codes that are sent, recovery codes, and browsers that don't ask for any. */
export function FactorPart({ account, calls, stepUp, language, factors, codesFor, onChanged }: FactorPartProps) {
  const text = useAllTexts();
  const { rememberedBrowsers = 0 } = factors;
  const isOperator = account.isOperator === true;
  // The password is asked for after a sign-in by a provider alone, and takes no part in the rest.
  const others = factors.factors.filter((it) => it.type !== 'PASSWORD');
  const hasCodes = others.length > 0 || factors.recoveryCodesLeft > 0;
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
            calls={calls}
            stepUp={stepUp}
            enrolment={step.enrolment}
            again={step.again}
            onSentAgain={(enrolment) => {
              setStep({ ...step, enrolment });
            }}
            onConfirmed={(codes) => {
              added(codes, readyText(step.enrolment));
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
              site={codesFor}
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
                () => renameFactor(calls, step.factor.id, name),
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
            {factors.factors.length === 0 ? (
              <p>{account.hasPassword ? text.factorsNone : text.provider.factorsNone}</p>
            ) : (
              list()
            )}
            {hasCodes && codes()}
            {rememberedBrowsers > 0 && browsers()}
            {factors.addable.includes('WEBAUTHN') && (
              <AddPasskey
                calls={calls}
                stepUp={stepUp}
                isVerified={account.emailVerified}
                isSecond={isOperator}
                onAdded={(codes) => {
                  added(codes, isOperator ? text.passkey.secondReady : text.passkey.ready);
                }}
              />
            )}
            {factors.policy !== 'OFF' && (
              <AddFactor
                isVerified={account.emailVerified}
                isSending={isSending}
                onAdd={(name) => {
                  begin(() => beginFactor(calls, name));
                }}
              />
            )}
            {factors.addable.includes('PUSH') && factors.pushKey !== undefined && (
              <AddPush
                pushKey={factors.pushKey}
                isVerified={account.emailVerified}
                isSending={isSending}
                onAdd={(subscription, name) => {
                  begin(() => beginPush(calls, subscription, name).then(tooManyBrowsers));
                }}
              />
            )}
            {canAdd('EMAIL') && (
              <AddPlainFactor
                help={text.emailFactorHelp}
                action={text.addEmailFactor}
                isSending={isSending}
                onAdd={() => {
                  begin(() => beginEmailFactor(calls));
                }}
              />
            )}
            {canAdd('PASSWORD') && (
              <AddPlainFactor
                help={text.provider.factorHelp}
                action={text.provider.addFactor}
                isSending={isSending}
                onAdd={() => {
                  act(
                    () => addPasswordFactor(calls),
                    (codes) => {
                      added(codes, text.provider.factorReady);
                    },
                  );
                }}
              />
            )}
            {PHONE_KINDS.some(canAdd) && (
              <AddPhoneFactor
                kinds={PHONE_KINDS.filter(canAdd)}
                isSending={isSending}
                onAdd={(kind, number) => {
                  begin(() => beginPhoneFactor(calls, kind, number));
                }}
              />
            )}
          </>
        );
    }
  }

  function readyText(enrolment: Enrolment) {
    if ('isPushed' in enrolment) return text.push.ready;
    return 'sentTo' in enrolment ? text.sentFactorReady : text.factorReady;
  }

  function begin(send: () => Promise<Answer<Enrolment>>) {
    act(send, (enrolment) => {
      setStep({ at: 'confirm', enrolment, again: send });
    });
  }

  /** Of codes that are sent, and of the password, a member has one factor. */
  function canAdd(kind: Factor['type']) {
    const has = factors.factors.some((it) => it.type === kind);
    return account.emailVerified && factors.addable.includes(kind) && !has;
  }

  function nameOf(factor: Factor) {
    switch (factor.type) {
      case 'WEBAUTHN':
      case 'TOTP':
      case 'PUSH':
        return factor.name;
      case 'EMAIL':
        return text.emailFactor;
      case 'SMS':
        return text.smsFactor({ number: factor.name });
      case 'CALL':
        return text.callFactor({ number: factor.name });
      case 'PASSWORD':
        return text.provider.factor;
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
              {it.type === 'PUSH' && <span className="step-quiet">{text.push.kind}</span>}
              {it.needsReenrolment === true && <span>{text.push.isGone}</span>}
              <span className="step-quiet">{text.factorMade({ date: writtenDate(it.createdDate, language) })}</span>
              {it.lastUsedDate !== undefined && (
                <span className="step-quiet">{text.lastUsed({ date: writtenDate(it.lastUsedDate, language) })}</span>
              )}
            </div>
            {NAMED.includes(it.type) && change('rename', it, text.passkey.rename)}
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
        {factor.type === 'PASSWORD' && <p>{text.provider.removeFactor}</p>}
        {factor.type !== 'PASSWORD' && others.length === 1 && <p>{text.removeLast}</p>}
        {factor.type === 'WEBAUTHN' && <p>{text.passkey.removeText}</p>}
        {factor.type === 'PUSH' && <p>{text.push.removeText}</p>}
        <div className="my-actions">
          <Button
            variant="danger"
            autoFocus
            pending={isSending}
            onPress={() => {
              act(
                () => removeFactor(calls, factor.id).then(goneIsRemoved),
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
              () => renewRecoveryCodes(calls),
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
        <p>{text.browsersLeft({ n: rememberedBrowsers })}</p>
        <Button
          pending={isSending}
          onPress={() => {
            act(
              () => forgetBrowsers(calls),
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
