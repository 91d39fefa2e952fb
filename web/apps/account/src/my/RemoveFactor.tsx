import { Button } from '@stoa/ui/Button';
import type { Factor } from '../api/member.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { useFactorName } from './FactorList.tsx';

export interface RemoveFactorProps {
  factor: Factor;
  /** Without it the password alone signs in. */
  isLast: boolean;
  isSending: boolean;
  onRemove: () => void;
  onKeep: () => void;
}

/** Asks once more, and says what changes. */
export function RemoveFactor({ factor, isLast, isSending, onRemove, onKeep }: RemoveFactorProps) {
  const text = useAllTexts();
  const nameOf = useFactorName();
  return (
    <div role="group" aria-labelledby="remove-factor" className="my-part">
      <h3 id="remove-factor" className="my-head">
        {text.removeTitle({ name: nameOf(factor) })}
      </h3>
      {factor.type === 'PASSWORD' && <p>{text.provider.removeFactor}</p>}
      {isLast && <p>{text.removeLast}</p>}
      {factor.type === 'WEBAUTHN' && <p>{text.passkey.removeText}</p>}
      {factor.type === 'PUSH' && <p>{text.push.removeText}</p>}
      <div className="my-actions">
        <Button variant="danger" autoFocus pending={isSending} onPress={onRemove}>
          {text.remove}
        </Button>
        <Button onPress={onKeep}>{text.keep}</Button>
      </div>
    </div>
  );
}
