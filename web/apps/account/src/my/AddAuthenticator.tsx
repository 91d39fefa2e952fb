import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Form, FormActions } from '@stoa/ui/Form';
import { TextField } from '@stoa/ui/TextField';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { LONGEST_NAME } from './AddPasskey.tsx';

export interface AddAuthenticatorProps {
  isSending: boolean;
  onAdd: (name: string) => void;
  onCancel: () => void;
}

/** The beginning of another authenticator: what the member calls it. */
export function AddAuthenticator({ isSending, onAdd, onCancel }: AddAuthenticatorProps) {
  const text = useAllTexts();
  const [name, setName] = useState('');
  return (
    <Form
      labelledBy="add-authenticator"
      onSubmit={() => {
        onAdd(name.trim());
      }}
    >
      <h3 id="add-authenticator" className="my-head">
        {text.addFactor}
      </h3>
      <TextField
        label={text.factorName}
        optional={text.optional}
        help={text.factorNameHelp}
        name="factor-name"
        maxLength={LONGEST_NAME}
        autoComplete="off"
        autoFocus
        value={name}
        onChange={setName}
      />
      <FormActions>
        <Button type="submit" variant="primary" pending={isSending}>
          {text.addFactor}
        </Button>
        <Button onPress={onCancel}>{text.cancel}</Button>
      </FormActions>
    </Form>
  );
}
