import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Form, FormActions } from '@stoa/ui/Form';
import { TextField } from '@stoa/ui/TextField';
import type { Factor } from '../api/member.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { LONGEST_NAME } from './AddPasskey.tsx';

export interface RenameFactorProps {
  factor: Factor;
  isSending: boolean;
  onRename: (name: string) => void;
  onCancel: () => void;
}

/** What the member calls a passkey or an authenticator from now on. */
export function RenameFactor({ factor, isSending, onRename, onCancel }: RenameFactorProps) {
  const text = useAllTexts();
  const [name, setName] = useState(factor.name);
  const [wrong, setWrong] = useState<string | undefined>();
  return (
    <Form
      labelledBy="rename-factor"
      onSubmit={() => {
        if (name.trim() === '') setWrong(text.problem.required);
        else onRename(name.trim());
      }}
    >
      <h3 id="rename-factor" className="my-head">
        {text.passkey.renameTitle({ name: factor.name })}
      </h3>
      <TextField
        label={text.factorName}
        name="new-name"
        maxLength={LONGEST_NAME}
        autoComplete="off"
        autoFocus
        isRequired
        value={name}
        onChange={(typed) => {
          setName(typed);
          setWrong(undefined);
        }}
        error={wrong}
      />
      <FormActions>
        <Button type="submit" variant="primary" pending={isSending}>
          {text.passkey.saveName}
        </Button>
        <Button onPress={onCancel}>{text.cancel}</Button>
      </FormActions>
    </Form>
  );
}
