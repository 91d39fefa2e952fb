import type { PushTexts } from '../page/WithPushTexts.tsx';
import './PushNumber.css';

/** The number that is typed in the browser that is asked. */
export function PushNumber({ number, texts }: { number: string; texts: PushTexts }) {
  return (
    <>
      <p className="push-number" dir="ltr">
        {number}
      </p>
      <p role="status" className="step-quiet step-center">
        {texts.waiting}
      </p>
    </>
  );
}

/** A question lives for two minutes. */
export const LOOK_MS = 2_000;
