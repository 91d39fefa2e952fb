import { useCallback, useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { Form, FormActions } from '@stoa/ui/Form';
import type { FactorCalls } from '../api/member.ts';
import { beginPushProof, readPushProof, type PushAsked } from '../api/push.ts';
import type { Failure } from '../api/request.ts';
import { usePolling } from '../flow/usePolling.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { LOOK_MS, PushNumber } from '../parts/PushNumber.tsx';
import { Note } from './Frame.tsx';

export interface PushProofProps {
  calls: FactorCalls;
  site: string;
  onProved: () => void;
  /** None of the member's browsers can be asked. */
  onUnusable: () => void;
}

/** What has a sentence about notifications. */
const WHY = { VERIFICATION_FAILED: 'unproved', THROTTLED_FEATURE: 'limited', UNAVAILABLE: 'unavailable' } as const;

const isKnown = (code: string): code is keyof typeof WHY => Object.hasOwn(WHY, code);

/** Shows in a browser that the member has added who they are. */
export function PushProof({ calls, site, onProved, onUnusable }: PushProofProps) {
  const text = useAllTexts();
  const [asked, setAsked] = useState<PushAsked | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const send = async () => {
    const begun = await beginPushProof(calls);
    if ('value' in begun) setAsked(begun.value);
    else if (begun.failure.problems.some((it) => it.field === 'pushData')) onUnusable();
    else setFailure(begun.failure);
  };
  if (asked !== null)
    return (
      <>
        <p className="step-quiet">{text.push.waitText({ site })}</p>
        <PushNumber number={asked.number} texts={text.push} />
        <Waiting
          calls={calls}
          id={asked.transactionId}
          onProved={onProved}
          onRefused={(why) => {
            setAsked(null);
            setFailure(why);
          }}
        />
      </>
    );
  const why = failure !== null && isKnown(failure.code) ? WHY[failure.code] : null;
  return (
    <Form
      labelledBy="proof"
      onSubmit={() => {
        if (isSending) return;
        setIsSending(true);
        setFailure(null);
        void send().finally(() => {
          setIsSending(false);
        });
      }}
    >
      <Note failure={why === null ? failure : null} done={null} />
      {why !== null && (
        <Callout tone="warn" announce="alert">
          <p>{text.push.why[why]}</p>
        </Callout>
      )}
      <p className="step-quiet">{text.push.factorText}</p>
      <FormActions>
        <Button type="submit" variant="primary" pending={isSending}>
          {text.push.send}
        </Button>
      </FormActions>
    </Form>
  );
}

interface WaitingProps {
  calls: FactorCalls;
  id: string;
  onProved: () => void;
  onRefused: (why: Failure) => void;
}

/** Asks how it stands, one time after the other; without an answer once more. */
function Waiting({ calls, id, onProved, onRefused }: WaitingProps) {
  const [isLooking, setIsLooking] = useState(false);
  const look = useCallback(async () => {
    if (isLooking) return;
    setIsLooking(true);
    const stands = await readPushProof(calls, id);
    setIsLooking(false);
    if ('value' in stands) {
      if (stands.value) onProved();
    } else if (stands.failure.why !== 'offline') onRefused(stands.failure);
  }, [calls, id, isLooking, onProved, onRefused]);
  usePolling(look, LOOK_MS);
  return null;
}
