import { Callout } from '@stoa/ui/Callout';
import type { PasskeyTexts } from '../page/WithPasskeyTexts.tsx';
import type { Prompt } from './usePrompt.ts';

export interface PromptNoteProps {
  prompt: Prompt;
  texts: PasskeyTexts;
  /** Why the server took no answer. */
  wrong?: string | undefined;
}

/** That the browser waits for a passkey, or why there is none; announced. */
export function PromptNote({ prompt, texts, wrong }: PromptNoteProps) {
  const why = prompt.isOpen ? undefined : prompt.why === null ? wrong : texts.why[prompt.why];
  return (
    <div className="step-prompt">
      <p role="status" className="step-quiet">
        {prompt.isOpen ? texts.waiting : ''}
      </p>
      {why !== undefined && (
        <Callout tone="warn" announce="alert">
          <p>{why}</p>
        </Callout>
      )}
    </div>
  );
}
