import { beginFactor, beginPhoneFactor, type Enrolment, type FactorCalls } from '../api/member.ts';
import { beginPush } from '../api/push.ts';
import type { Answer } from '../api/request.ts';
import { AddAuthenticator } from './AddAuthenticator.tsx';
import { AddPasskey } from './AddPasskey.tsx';
import { AddPhone } from './AddPhone.tsx';
import { AddPush } from './AddPush.tsx';
import { TOO_MANY_BROWSERS } from './problems.ts';
import type { StepUp } from './useStepUp.ts';

/** The kinds of which something is asked before they are added. */
export type Asked = 'WEBAUTHN' | 'TOTP' | 'PUSH' | 'SMS' | 'CALL';

export interface AddFactorProps {
  kind: Asked;
  calls: FactorCalls;
  stepUp: StepUp;
  /** The site's public key, where browsers can be added. */
  pushKey: string | undefined;
  /** A passkey signs in after the password alone, never in its place. */
  isOperator: boolean;
  isSending: boolean;
  /** What is begun now, and confirmed by a first code. */
  onBegin: (send: () => Promise<Answer<Enrolment>>) => void;
  /** A passkey was added: with the recovery codes that come with the first factor. */
  onPasskey: (codes: readonly string[]) => void;
  onCancel: () => void;
}

/** What is asked before a factor of a kind is added. */
export function AddFactor(props: AddFactorProps) {
  const { kind, calls, stepUp, pushKey, isOperator, isSending, onBegin, onPasskey, onCancel } = props;
  switch (kind) {
    case 'WEBAUTHN':
      return <AddPasskey calls={calls} stepUp={stepUp} isSecond={isOperator} onAdded={onPasskey} onCancel={onCancel} />;
    case 'TOTP':
      return (
        <AddAuthenticator
          isSending={isSending}
          onAdd={(name) => {
            onBegin(() => beginFactor(calls, name));
          }}
          onCancel={onCancel}
        />
      );
    case 'PUSH':
      if (pushKey === undefined) return null;
      return (
        <AddPush
          pushKey={pushKey}
          isSending={isSending}
          onAdd={(subscription, name) => {
            onBegin(() => beginPush(calls, subscription, name).then(tooManyBrowsers));
          }}
          onCancel={onCancel}
        />
      );
    case 'SMS':
    case 'CALL':
      return (
        <AddPhone
          kind={kind}
          isSending={isSending}
          onAdd={(number) => {
            onBegin(() => beginPhoneFactor(calls, kind, number));
          }}
          onCancel={onCancel}
        />
      );
  }
}

/** As many browsers as an account can have are said to be that. */
const tooManyBrowsers = <Value,>(answer: Answer<Value>): Answer<Value> =>
  'failure' in answer && answer.failure.code === 'TOO_MANY'
    ? { failure: { ...answer.failure, code: TOO_MANY_BROWSERS } }
    : answer;
