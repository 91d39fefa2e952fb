import type { ProfileField, ProfileInput } from '@stoa/api';
import { TextField } from '@stoa/ui/TextField';
import { useText } from '../page/text.ts';

export type ProfileValues = Readonly<Record<string, string>>;

const AUTOCOMPLETE: Record<string, string> = { firstName: 'given-name', lastName: 'family-name', nickname: 'nickname' };

export interface ProfileFieldsProps {
  fields: readonly ProfileField[];
  values: ProfileValues;
  onChange: (values: ProfileValues) => void;
  errorAt: (field: string) => string | undefined;
}

/** The parts of a profile that the site asks for. */
export function ProfileFields({ fields, values, onChange, errorAt }: ProfileFieldsProps) {
  const text = useText();
  const labels: Record<string, string> = {
    firstName: text.firstName,
    lastName: text.lastName,
    nickname: text.nickname,
  };
  return fields.map(({ name, required }) => (
    <TextField
      key={name}
      name={name}
      label={labels[name] ?? name}
      optional={required ? undefined : text.optional}
      isRequired={required}
      autoComplete={AUTOCOMPLETE[name] ?? 'off'}
      value={values[name] ?? ''}
      error={errorAt(name)}
      onChange={(value) => {
        onChange({ ...values, [name]: value });
      }}
    />
  ));
}

/** The values that must not be empty, for the check before sending. */
export function requiredValues(fields: readonly ProfileField[], values: ProfileValues): Record<string, string> {
  return Object.fromEntries(fields.filter((it) => it.required).map(({ name }) => [name, values[name] ?? '']));
}

/** The values as they are sent. */
export function profileInput(values: ProfileValues): ProfileInput {
  const value = (name: string) => values[name]?.trim() || null;
  return { firstName: value('firstName'), lastName: value('lastName'), nickname: value('nickname') };
}
