import { Button } from '@stoa/ui/Button';
import { WithPasskeyTexts } from '../page/WithPasskeyTexts.tsx';
import { getPasskey, hasPasskeys } from '../parts/passkey.ts';
import { PromptNote } from '../parts/PromptNote.tsx';
import {
  refusal,
  useFreshChallenge,
  usePasskeyInField,
  useStepPrompt,
  type PasskeyStep,
  type ToInput,
} from './passkeyPrompt.ts';

const toInput: ToInput = (answer) => ({ type: 'PASSKEY', ...answer, remember: false });

/** Signing in with a passkey: by the button, or where the browser offers it at the field of the address. */
export function PasskeySignIn(props: PasskeyStep) {
  const { flow, challenge } = props;
  useFreshChallenge(flow, challenge);
  const { prompt, open, isRefused } = useStepPrompt(props, toInput);
  usePasskeyInField(props, !prompt.isOpen && flow.sending === null, toInput);
  return (
    <div className="step-way">
      <WithPasskeyTexts waiting={null}>
        {(texts) => (
          <>
            <PromptNote prompt={prompt} texts={texts} wrong={refusal(isRefused, texts)} />
            <Button
              wide
              pending={prompt.isOpen || flow.sending === 'PASSKEY'}
              disabledReason={hasPasskeys() ? undefined : texts.why.unsupported}
              onPress={() => {
                open(getPasskey);
              }}
            >
              {texts.signIn}
            </Button>
          </>
        )}
      </WithPasskeyTexts>
    </div>
  );
}
