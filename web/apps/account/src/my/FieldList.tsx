import { useState } from 'react';
import { TextField } from '@stoa/ui/TextField';
import type { Contact, ContactChange, CustomField } from '../api/contact.ts';
import type { Answer, Failure } from '../api/request.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { EntryForm, TextEntryForm, useSaving, type EntryFormProps } from './EntryForm.tsx';
import { EntryList } from './EntryList.tsx';

/** What the server takes at most of a value, and what fits beside others of a name. */
const LONGEST = { name: 100, value: 10_000 };

/** The list that comes with it says what is wrong. */
const KNOWN: Failure = {
  why: 'refused',
  code: 'ALREADY_EXISTS',
  message: '',
  requestId: null,
  clientId: null,
  problems: [{ field: null, code: 'ALREADY_EXISTS', message: '' }],
};

export interface FieldListProps {
  fields: readonly CustomField[];
  change: (make: (now: Contact) => ContactChange) => Promise<Answer<Contact>>;
}

/** Custom fields, which applications and the member add. What is no text is shown and can be removed. */
export function FieldList({ fields, change }: FieldListProps) {
  const text = useAllTexts();
  const save = (name: string, value: string) => change(() => ({ customFields: { [name]: { name, value } } }));
  /** What has the name by now, of another tab or an application, stays; then the list has it, and the form says so. */
  const add = async ({ name, value }: NamedText): Promise<Answer<Contact>> => {
    let isKnown = false;
    const answer = await change((now) => {
      isKnown = now.customFields.some((it) => it.name === name);
      return isKnown ? {} : { customFields: { [name]: { name, value } } };
    });
    return isKnown && 'value' in answer ? { failure: KNOWN } : answer;
  };
  const isText = ({ value }: CustomField) => typeof value === 'string';
  return (
    <EntryList
      id="fields"
      title={text.fields}
      help={text.fieldsHelp}
      none={text.noFields}
      add={text.addField}
      entries={fields}
      lines={({ name, value }) => [name, valueText(value)].filter(Boolean)}
      isEditable={isText}
      remove={({ name }) => change(() => ({ customFields: { [name]: null } }))}
      form={(field, close) =>
        field === null ? (
          <NewField names={fields.map((it) => it.name)} save={add} onClose={close} />
        ) : (
          <TextEntryForm
            list="fields"
            entry={valueText(field.value)}
            isField={(it) => it === field.name}
            field={{ label: field.name, name: 'value', maxLength: LONGEST.value }}
            save={(value) => save(field.name, value)}
            onClose={close}
          />
        )
      }
    />
  );
}

/** Lists and objects, which applications write, as they stand. */
const valueText = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

interface NamedText {
  name: string;
  value: string;
}

function NewField({ names, save, onClose }: EntryFormProps<NamedText> & { names: readonly string[] }) {
  const text = useAllTexts();
  const [typed, setTyped] = useState<NamedText>({ name: '', value: '' });
  const [wasSent, setWasSent] = useState(false);
  const { failure, isSending, send, at } = useSaving({ save, onClose });
  const next = { name: typed.name.trim(), value: typed.value.trim() };
  const missing = (value: string) => (wasSent && value === '' ? text.problem.required : undefined);
  const isKnown = names.includes(next.name);
  // The server names the field by what it is called.
  const wrong = at((it) => it === next.name || it === 'name');
  const change = (name: keyof NamedText) => (value: string) => {
    setTyped({ ...typed, [name]: value });
    setWasSent(false);
  };
  return (
    <EntryForm
      labelledBy="fields"
      failure={wrong === undefined && failure !== KNOWN ? failure : null}
      isSending={isSending}
      onSubmit={() => {
        setWasSent(true);
        if (next.name !== '' && next.value !== '' && !isKnown) send(next);
      }}
      onClose={onClose}
    >
      <TextField
        label={text.factorName}
        name="name"
        maxLength={LONGEST.name}
        autoFocus
        value={typed.name}
        onChange={change('name')}
        error={wasSent && isKnown ? text.wrong.fieldExists : missing(next.name)}
      />
      <TextField
        label={text.fieldValue}
        name="value"
        maxLength={LONGEST.value}
        value={typed.value}
        onChange={change('value')}
        error={missing(next.value) ?? wrong}
      />
    </EntryForm>
  );
}
