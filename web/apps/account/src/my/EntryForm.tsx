import { useState, type ReactNode } from 'react';
import { Button } from '@stoa/ui/Button';
import { Form, FormActions } from '@stoa/ui/Form';
import { TextField, type TextFieldProps } from '@stoa/ui/TextField';
import type { Answer, Failure } from '../api/request.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { Note } from './Frame.tsx';
import { wrongText } from './problems.ts';

export interface EntryFormProps<Value> {
  save: (value: Value) => Promise<Answer<unknown>>;
  onClose: (isSaved: boolean) => void;
}

/** Sends a form, and tells what is wrong by the names of fields, or as a whole. */
export function useSaving<Value>({ save, onClose }: EntryFormProps<Value>) {
  const text = useAllTexts();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const send = (value: Value) => {
    if (isSending) return;
    setIsSending(true);
    void save(value).then((answer) => {
      setIsSending(false);
      if ('value' in answer) onClose(true);
      else setFailure(answer.failure);
    });
  };
  const at = (isField: (name: string) => boolean) => {
    const found = failure?.problems.filter((it) => it.field !== null && isField(it.field)) ?? [];
    return found.map((it) => wrongText(text, it.code, it.message)).join(' ') || undefined;
  };
  return { failure, isSending, send, at };
}

export function EntryForm(props: {
  labelledBy: string;
  failure: Failure | null;
  isSending: boolean;
  onSubmit: () => void;
  onClose: (isSaved: boolean) => void;
  children: ReactNode;
}) {
  const { labelledBy, failure, isSending, onSubmit, onClose, children } = props;
  const text = useAllTexts();
  return (
    <Form labelledBy={labelledBy} onSubmit={onSubmit}>
      <Note failure={failure} done={null} />
      {children}
      <FormActions>
        <Button type="submit" variant="primary" pending={isSending}>
          {text.saveProfile}
        </Button>
      </FormActions>
      <Button
        variant="link"
        onPress={() => {
          onClose(false);
        }}
      >
        {text.cancel}
      </Button>
    </Form>
  );
}

export interface TextEntryFormProps extends EntryFormProps<string> {
  /** The id of the list's title. */
  list: string;
  entry: string;
  /** Whether a problem of the server's is about this entry, by the name of its field. */
  isField: (name: string) => boolean;
  /** What is wrong with a text that isn't empty, before it is sent. */
  check?: (typed: string) => string | undefined;
  field: Pick<TextFieldProps, 'label' | 'name' | 'type' | 'inputMode' | 'autoComplete' | 'maxLength' | 'ltr'>;
}

/** An entry that is one text. */
export function TextEntryForm({ list, entry, isField, check, field, save, onClose }: TextEntryFormProps) {
  const text = useAllTexts();
  const [typed, setTyped] = useState(entry);
  const [mistake, setMistake] = useState<string | undefined>();
  const { failure, isSending, send, at } = useSaving({ save, onClose });
  const wrong = at(isField);
  return (
    <EntryForm
      labelledBy={list}
      failure={wrong === undefined ? failure : null}
      isSending={isSending}
      onSubmit={() => {
        const next = typed.trim();
        const found = next === '' ? text.problem.required : check?.(next);
        setMistake(found);
        if (found === undefined) send(next);
      }}
      onClose={onClose}
    >
      <TextField
        {...field}
        autoFocus
        value={typed}
        onChange={(value) => {
          setTyped(value);
          setMistake(undefined);
        }}
        error={mistake ?? wrong}
      />
    </EntryForm>
  );
}
