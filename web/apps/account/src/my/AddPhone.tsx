import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Form, FormActions } from '@stoa/ui/Form';
import { TextField } from '@stoa/ui/TextField';
import { useAllTexts } from '../page/WithLaterTexts.tsx';

export interface AddPhoneProps {
  kind: 'SMS' | 'CALL';
  isSending: boolean;
  onAdd: (number: string) => void;
  onCancel: () => void;
}

/** Codes by text message, or by a call, as a second factor: to which number. */
export function AddPhone({ kind, isSending, onAdd, onCancel }: AddPhoneProps) {
  const text = useAllTexts();
  const [number, setNumber] = useState('');
  const [wrong, setWrong] = useState<string | undefined>();
  const action = kind === 'SMS' ? text.addSmsFactor : text.addCallFactor;
  return (
    <Form
      labelledBy="add-phone"
      onSubmit={() => {
        if (number.trim() === '') setWrong(text.problem.required);
        else onAdd(number.trim());
      }}
    >
      <h3 id="add-phone" className="my-head">
        {action}
      </h3>
      <p className="step-quiet">{text.phoneFactorHelp}</p>
      <TextField
        label={text.phoneNumber}
        help={text.phoneNumberHelp}
        name="phone"
        type="tel"
        maxLength={40}
        autoComplete="tel"
        autoFocus
        ltr
        value={number}
        onChange={(typed) => {
          setNumber(typed);
          setWrong(undefined);
        }}
        error={wrong}
      />
      <FormActions>
        <Button type="submit" variant="primary" pending={isSending}>
          {action}
        </Button>
        <Button onPress={onCancel}>{text.cancel}</Button>
      </FormActions>
    </Form>
  );
}
