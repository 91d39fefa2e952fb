import { useRef } from 'react';
import { Button } from '@stoa/ui/Button';
import { FormActions } from '@stoa/ui/Form';
import { useText } from '../page/text.ts';
import { CopyButton, select } from './CopyText.tsx';
import { saveFile } from './saveFile.ts';
import './AuthenticatorSetup.css';

export interface RecoveryCodesProps {
  /** Shown this once. */
  codes: readonly string[];
  /** The site's name, for the file. */
  site: string;
  /** The person has kept them and goes on. */
  onKept: () => void;
  pending?: boolean;
}

/** The codes for the day on which the authenticator is lost: copied, saved as a file, and left by a button that says so. */
export function RecoveryCodes({ codes, site, onKept, pending = false }: RecoveryCodesProps) {
  const text = useText();
  const list = useRef<HTMLOListElement>(null);
  const lines = codes.join('\n');
  return (
    <div className="step-stack">
      <ol ref={list} className="setup-codes" dir="ltr" aria-label={text.recoveryCodesList}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div className="setup-copy">
        <CopyButton value={lines} onRefused={() => list.current && select(list.current)} />
        <Button
          size="small"
          onPress={() => {
            saveFile('recovery-codes.txt', `${text.recoveryCodesFile({ site })}\n\n${lines}\n`);
          }}
        >
          {text.download}
        </Button>
      </div>
      <FormActions>
        <Button variant="primary" wide pending={pending} onPress={onKept}>
          {text.recoveryCodesKept}
        </Button>
      </FormActions>
    </div>
  );
}
