import { useEffect, useRef, useState } from 'react';
import { Button } from '@stoa/ui/Button';
import {
  addPasswordFactor,
  beginEmailFactor,
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
import type { Answer, Failure } from '../api/request.ts';
import { RecoveryCodes } from '../parts/RecoveryCodes.tsx';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { AddFactor, type Asked } from './AddFactor.tsx';
import { AddWays } from './AddWays.tsx';
import { ConfirmFactor } from './ConfirmFactor.tsx';
import { FactorList } from './FactorList.tsx';
import { Note, type Done } from './Frame.tsx';
import { RemoveFactor } from './RemoveFactor.tsx';
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
  | { at: 'add'; kind: Asked }
  | { at: 'confirm'; enrolment: Enrolment; again: () => Promise<Answer<Enrolment>> }
  /** Codes that are shown this once. */
  | { at: 'codes'; codes: readonly string[]; said: string };

/** The steps that have a field or a button for the focus. */
const FOCUSED: readonly Step['at'][] = ['add', 'remove', 'rename'];

/** What is wrong with a number has a sentence of its own. */
const named = (failure: Failure): Failure =>
  failure.problems.some((it) => it.field === 'phone') ? { ...failure, code: 'PHONE_NUMBER' } : failure;

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

  // Where the step took away what had the focus, it goes to the heading, but for steps that give it to a field of theirs; and
  // so where what was done took it away once the factors had come anew.
  const head = useRef<HTMLHeadingElement>(null);
  const shown = useRef(step);
  const isDoneHere = useRef(false);
  const focusHead = () => {
    if (document.activeElement === document.body) head.current?.focus();
  };
  useEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    if (!FOCUSED.includes(step.at)) focusHead();
  }, [step]);
  useEffect(() => {
    if (isDoneHere.current) focusHead();
    isDoneHere.current = false;
  }, [factors]);

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
      if (isGone) {
        setStep({ at: 'list' });
        onChanged();
      }
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
  /** Begins a step of several; what an earlier one said is read. */
  const go = (next: Step) => {
    setDone(null);
    setFailure(null);
    setStep(next);
  };
  const toList = () => {
    go({ at: 'list' });
  };
  const over = (said: string) => {
    setStep({ at: 'list' });
    setDone({ text: said });
    isDoneHere.current = true;
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
      case 'list':
        return overview();
      case 'add':
        // The site takes no browsers any more.
        if (step.kind === 'PUSH' && factors.pushKey === undefined) return overview();
        return (
          <AddFactor
            key={step.kind}
            kind={step.kind}
            calls={calls}
            stepUp={stepUp}
            pushKey={factors.pushKey}
            isOperator={isOperator}
            isSending={isSending}
            onBegin={begin}
            onPasskey={(codes) => {
              added(codes, isOperator ? text.passkey.secondReady : text.passkey.ready);
            }}
            onCancel={toList}
          />
        );
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
            onCancel={toList}
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
        return (
          <RemoveFactor
            factor={step.factor}
            isLast={step.factor.type !== 'PASSWORD' && others.length === 1}
            isSending={isSending}
            onRemove={() => {
              act(
                () => removeFactor(calls, step.factor.id).then(goneIsRemoved),
                () => {
                  over(text.factorRemoved);
                },
              );
            }}
            onKeep={toList}
          />
        );
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
            onCancel={toList}
          />
        );
    }
  }

  function overview() {
    return (
      <>
        {factors.factors.length === 0 ? (
          <p>{account.hasPassword ? text.factorsNone : text.provider.factorsNone}</p>
        ) : (
          <FactorList
            factors={factors.factors}
            language={language}
            onRename={(factor) => {
              go({ at: 'rename', factor });
            }}
            onRemove={(factor) => {
              go({ at: 'remove', factor });
            }}
          />
        )}
        {hasCodes && codes()}
        {rememberedBrowsers > 0 && browsers()}
        <AddWays account={account} factors={factors} isSending={isSending} onAdd={add} />
      </>
    );
  }

  function add(kind: Factor['type']) {
    switch (kind) {
      case 'EMAIL':
        begin(() => beginEmailFactor(calls));
        break;
      case 'PASSWORD':
        act(
          () => addPasswordFactor(calls),
          (codes) => {
            added(codes, text.provider.factorReady);
          },
        );
        break;
      default:
        go({ at: 'add', kind });
    }
  }

  function readyText(enrolment: Enrolment) {
    if ('isPushed' in enrolment) return text.push.ready;
    return 'sentTo' in enrolment ? text.sentFactorReady : text.factorReady;
  }

  /** Goes on from this step to the first code, unless it was left meanwhile. */
  function begin(send: () => Promise<Answer<Enrolment>>) {
    const isHere = () => shown.current === step;
    if (!isHere()) return;
    act(send, (enrolment) => {
      if (isHere()) setStep({ at: 'confirm', enrolment, again: send });
    });
  }

  function codes() {
    return (
      <div className="my-left">
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
      <div className="my-left">
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
