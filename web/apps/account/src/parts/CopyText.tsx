import { useRef, useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { useText } from '../page/text.ts';
import './AuthenticatorSetup.css';

export interface CopyTextProps {
  /** Names the text to those who listen. */
  label: string;
  /** What is copied. */
  value: string;
  /** The same as it is read. */
  shown: string;
}

/** A text to take elsewhere, with a button that copies it. */
export function CopyText({ label, value, shown }: CopyTextProps) {
  const box = useRef<HTMLElement>(null);
  return (
    <div className="setup-copy">
      <code ref={box} className="setup-key" dir="ltr" role="group" aria-label={label}>
        {shown}
      </code>
      <CopyButton value={value} onRefused={() => box.current && select(box.current)} />
    </div>
  );
}

/** Copies a text and says so. Where the browser doesn't let pages copy, the text is selected instead. */
export function CopyButton({ value, onRefused }: { value: string; onRefused: () => void }) {
  const text = useText();
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setSaid(text.copied);
    } catch {
      // No permission, or a page without encryption.
      onRefused();
      setSaid(text.copyFailed);
    }
  };
  return (
    <>
      <Button
        size="small"
        onPress={() => {
          void copy();
        }}
      >
        {text.copy}
      </Button>
      <span role="status" className="step-quiet">
        {said}
      </span>
    </>
  );
}

export function select(element: Element): void {
  const range = document.createRange();
  range.selectNodeContents(element);
  const selection = getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
}
