import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { Form, FormActions } from '@stoa/ui/Form';
import { TextField } from '@stoa/ui/TextField';
import type { Subscription } from '../api/push.ts';
import { accountHome } from '../flow/route.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { subscribe, type Why } from '../parts/push.ts';
import { LONGEST_NAME } from './AddPasskey.tsx';

export interface AddPushProps {
  /** The site's public key. */
  pushKey: string;
  isSending: boolean;
  onAdd: (subscription: Subscription, name: string) => void;
  onCancel: () => void;
}

/** This browser is to be asked by notifications. Its permission is asked for once the button is pressed. */
export function AddPush({ pushKey, isSending, onAdd, onCancel }: AddPushProps) {
  const text = useAllTexts();
  const [name, setName] = useState('');
  const [isPreparing, setIsPreparing] = useState(false);
  const [why, setWhy] = useState<Why | null>(null);
  return (
    <Form
      labelledBy="add-push"
      onSubmit={() => {
        if (isPreparing || isSending) return;
        setIsPreparing(true);
        setWhy(null);
        void subscribe(pushKey, accountHome()).then((it) => {
          setIsPreparing(false);
          if ('why' in it) setWhy(it.why);
          else onAdd(it.subscription, name.trim());
        });
      }}
    >
      <h3 id="add-push" className="my-head">
        {text.push.add}
      </h3>
      <p className="step-quiet">{text.push.permissionText}</p>
      <p role="status" className="step-quiet">
        {isPreparing ? text.push.preparing : ''}
      </p>
      {why !== null && (
        <Callout tone="warn" announce="alert">
          <p>{text.push.why[why]}</p>
        </Callout>
      )}
      <TextField
        label={text.factorName}
        optional={text.optional}
        help={text.push.nameHelp}
        name="push-name"
        maxLength={LONGEST_NAME}
        autoComplete="off"
        autoFocus
        value={name}
        onChange={setName}
      />
      <FormActions>
        <Button type="submit" variant="primary" pending={isPreparing || isSending}>
          {text.push.add}
        </Button>
        <Button onPress={onCancel}>{text.cancel}</Button>
      </FormActions>
    </Form>
  );
}
