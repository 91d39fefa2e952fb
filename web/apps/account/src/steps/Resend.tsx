import { useEffect, useState } from 'react';
import type { FactorType } from '@stoa/api';
import { Button } from '@stoa/ui/Button';
import type { Flow } from '../flow/useFlow.ts';
import { useText } from '../page/text.ts';

export interface ResendProps {
  flow: Flow;
  afterSeconds: number;
  /** Of which second factor, where the code is of one. */
  factor?: FactorType;
}

/** Asks for a new code, once the server would send one. The count starts again with every answer. */
export function Resend(props: ResendProps) {
  return <Wait key={props.flow.round} {...props} />;
}

function Wait({ flow, afterSeconds, factor }: ResendProps) {
  const text = useText();
  const left = useCountdown(afterSeconds);
  if (left > 0) return <span className="step-quiet">{text.resendIn({ time: clock(left) })}</span>;
  return (
    <Button
      variant="link"
      pending={flow.sending === 'RESEND'}
      onPress={() => {
        flow.send({ type: 'RESEND', ...(factor === undefined ? {} : { factor }) });
      }}
    >
      {text.resend}
    </Button>
  );
}

/** Says that a new code was sent, to those who see and those who listen. */
export function ResentNote({ flow, problems }: { flow: Flow; problems: number }) {
  const text = useText();
  return (
    <p role="status" className="step-quiet">
      {flow.answered === 'RESEND' && flow.failure === null && problems === 0 ? text.resent : ''}
    </p>
  );
}

function useCountdown(seconds: number): number {
  const [passed, setPassed] = useState(0);
  const over = passed >= seconds;
  useEffect(() => {
    if (over) return;
    const from = performance.now() - passed * 1000;
    const timer = setTimeout(() => {
      setPassed(Math.round((performance.now() - from) / 1000));
    }, 1000);
    return () => {
      clearTimeout(timer);
    };
  }, [over, passed]);
  return Math.max(0, seconds - passed);
}

const clock = (seconds: number) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
