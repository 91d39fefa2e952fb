import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { TextField, type TextFieldProps } from './TextField.tsx';

export interface PasswordFieldProps extends Omit<TextFieldProps, 'type' | 'after' | 'autoComplete'> {
  /** Tells password managers whether to fill or to offer a new one. */
  autoComplete: 'current-password' | 'new-password';
  showLabel: string;
  hideLabel: string;
}

/** A password that can be shown. It is hidden again with every mount. */
export function PasswordField({ showLabel, hideLabel, ...rest }: PasswordFieldProps) {
  const [shown, setShown] = useState(false);
  return (
    <TextField
      {...rest}
      type={shown ? 'text' : 'password'}
      autoCorrect="off"
      spellCheck="false"
      after={
        <Button
          className="stoa-reveal"
          slot={null}
          aria-label={shown ? hideLabel : showLabel}
          onPress={() => {
            setShown(!shown);
          }}
        >
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z" />
            <circle cx="12" cy="12" r="2.75" />
            {shown && <path d="M4 20 20 4" />}
          </svg>
        </Button>
      }
    />
  );
}
