import { Button } from '@stoa/ui/Button';
import type { Factor, FactorAccount, Factors } from '../api/member.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { hasPasskeys } from '../parts/passkey.ts';
import { hasPush } from '../parts/push.ts';

export interface AddWaysProps {
  account: FactorAccount;
  factors: Factors;
  isSending: boolean;
  onAdd: (kind: Factor['type']) => void;
}

/** The ways of showing who one is that can be added, and what each is good for; nothing where there is none. */
export function AddWays({ account, factors, isSending, onAdd }: AddWaysProps) {
  const text = useAllTexts();
  const labels = {
    WEBAUTHN: text.passkey.add,
    TOTP: text.addFactor,
    PUSH: text.push.add,
    EMAIL: text.addEmailFactor,
    PASSWORD: text.provider.addFactor,
    SMS: text.addSmsFactor,
    CALL: text.addCallFactor,
  };
  /** What this browser can't do. */
  const whyNot = (kind: Factor['type']) => {
    if (kind === 'WEBAUTHN' && !hasPasskeys()) return text.passkey.why.unsupported;
    if (kind === 'PUSH' && !hasPush()) return text.push.why.unsupported;
    return undefined;
  };
  const all: readonly { help: string; kinds: readonly Factor['type'][] }[] = [
    { help: account.isOperator === true ? text.passkey.secondText : text.passkey.createText, kinds: ['WEBAUTHN'] },
    { help: text.addFactorHelp, kinds: ['TOTP'] },
    { help: text.push.addText, kinds: ['PUSH'] },
    { help: text.emailFactorHelp, kinds: ['EMAIL'] },
    { help: text.provider.factorHelp, kinds: ['PASSWORD'] },
    { help: text.phoneFactorHelp, kinds: ['SMS', 'CALL'] },
  ];
  const ways = all
    .map(({ help, kinds }) => ({ help, kinds: kinds.filter((it) => canBeAdded(it, factors)) }))
    .filter(({ kinds }) => kinds.length > 0);
  if (ways.length === 0) return null;
  return (
    <div className="my-ways">
      <h3 id="add-way" className="my-head">
        {text.addWay}
      </h3>
      {account.emailVerified ? (
        <ul className="my-list" aria-labelledby="add-way">
          {ways.map(({ help, kinds }) => (
            <li key={help}>
              <p className="step-quiet">{help}</p>
              {kinds.map((kind) => (
                <Button
                  key={kind}
                  pending={isSending}
                  disabledReason={whyNot(kind)}
                  onPress={() => {
                    onAdd(kind);
                  }}
                >
                  {labels[kind]}
                </Button>
              ))}
            </li>
          ))}
        </ul>
      ) : (
        <p className="step-quiet">{text.factorNeedsEmail}</p>
      )}
    </div>
  );
}

function canBeAdded(kind: Factor['type'], { addable, factors, policy, pushKey }: Factors): boolean {
  switch (kind) {
    case 'WEBAUTHN':
      return addable.includes(kind);
    case 'TOTP':
      return policy !== 'OFF';
    case 'PUSH':
      return addable.includes(kind) && pushKey !== undefined;
    // Of codes that are sent, and of the password, an account has one factor.
    default:
      return addable.includes(kind) && !factors.some((it) => it.type === kind);
  }
}
