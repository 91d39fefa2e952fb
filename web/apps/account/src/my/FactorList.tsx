import { Button } from '@stoa/ui/Button';
import type { Factor } from '../api/member.ts';
import { writtenDate } from '../page/dates.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';

/** The kinds that have a name of the member's own. */
const NAMED: readonly Factor['type'][] = ['WEBAUTHN', 'TOTP', 'PUSH'];

export interface FactorListProps {
  factors: readonly Factor[];
  language: string;
  onRename: (factor: Factor) => void;
  onRemove: (factor: Factor) => void;
}

/** What the member has, when it was added and used, and what can be done with it. */
export function FactorList({ factors, language, onRename, onRemove }: FactorListProps) {
  const text = useAllTexts();
  const nameOf = useFactorName();
  const change = (factor: Factor, label: string, onChange: (factor: Factor) => void) => (
    <Button
      aria-label={`${label}: ${nameOf(factor)}`}
      onPress={() => {
        onChange(factor);
      }}
    >
      {label}
    </Button>
  );
  return (
    <ul className="my-list" aria-labelledby="factors">
      {factors.map((it) => (
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
          <div className="my-actions">
            {NAMED.includes(it.type) && change(it, text.passkey.rename, onRename)}
            {change(it, text.remove, onRemove)}
          </div>
        </li>
      ))}
    </ul>
  );
}

/** What a factor is called: by the member, or by its kind. */
export function useFactorName(): (factor: Factor) => string {
  const text = useAllTexts();
  return ({ type, name }) => {
    switch (type) {
      case 'WEBAUTHN':
      case 'TOTP':
      case 'PUSH':
        return name;
      case 'EMAIL':
        return text.emailFactor;
      case 'SMS':
        return text.smsFactor({ number: name });
      case 'CALL':
        return text.callFactor({ number: name });
      case 'PASSWORD':
        return text.provider.factor;
    }
  };
}
