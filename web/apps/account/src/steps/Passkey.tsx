import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import type { PasskeyAnswer } from '../flow/passkey.ts';
import { useText } from '../page/text.ts';

export interface PasskeyProps {
  label: string;
  ask: () => Promise<PasskeyAnswer>;
  onCredential: (credential: string) => void;
  sending: boolean;
}

/** One button that asks the browser, and what to say when nothing came of it. */
export function Passkey({ label, ask, onCredential, sending }: PasskeyProps) {
  const text = useText();
  const [asking, setAsking] = useState(false);
  const [stopped, setStopped] = useState<'missing' | 'refused' | null>(null);
  const begin = async () => {
    setAsking(true);
    setStopped(null);
    const answer = await ask();
    setAsking(false);
    if ('credential' in answer) onCredential(answer.credential);
    else setStopped(answer.stopped);
  };
  return (
    <>
      {stopped !== null && (
        <Callout tone="warn" announce="alert">
          {stopped === 'missing' ? text.passkeyMissing : text.passkeyStopped}
        </Callout>
      )}
      <Button
        variant="primary"
        wide
        pending={asking || sending}
        onPress={() => {
          void begin();
        }}
      >
        {label}
      </Button>
    </>
  );
}
