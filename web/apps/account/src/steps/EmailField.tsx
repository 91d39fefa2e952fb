import { TextField } from '@stoa/ui/TextField';
import { keepEmail, keptEmail } from '../flow/draft.ts';
import { useText } from '../page/text.ts';
import { useState } from 'react';

/** The address of an account: what the server knows, else what was typed on an earlier page of this tab. */
export function useEmail(known: string | null) {
  const [email, setEmail] = useState(() => known ?? keptEmail());
  const change = (value: string) => {
    setEmail(value);
    keepEmail(value);
  };
  return [email, change] as const;
}

export function EmailField({
  value,
  onChange,
  error,
  autoComplete = 'username',
}: {
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
  autoComplete?: string;
}) {
  const text = useText();
  return (
    <TextField
      label={text.email}
      name="email"
      type="email"
      inputMode="email"
      autoComplete={autoComplete}
      spellCheck="false"
      autoCorrect="off"
      ltr
      isRequired
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}
