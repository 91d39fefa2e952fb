import type { Key, ReactNode } from 'react';
import { Button } from 'react-aria-components/Button';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select';
import { Text } from 'react-aria-components/Text';
import { ErrorText, FieldLabel } from './TextField.tsx';
import './Field.css';
import './Select.css';

export interface SelectOption<Value extends string> {
  value: Value;
  label: string;
  /** A quiet second line. */
  hint?: string;
}

export interface SelectProps<Value extends string> {
  label: ReactNode;
  options: readonly SelectOption<Value>[];
  value: Value | null;
  onChange: (value: Value) => void;
  placeholder?: string;
  help?: ReactNode;
  error?: ReactNode;
  name?: string;
}

/** One of a few. For more than about twenty choices use a search. */
export function Select<Value extends string>({
  label,
  options,
  value,
  onChange,
  placeholder,
  help,
  error,
  name,
}: SelectProps<Value>) {
  const choose = (key: Key | null) => {
    const option = options.find((it) => it.value === key);
    if (option) onChange(option.value);
  };
  return (
    <AriaSelect
      className="stoa-field"
      value={value}
      onChange={choose}
      isInvalid={error != null && error !== ''}
      validationBehavior="aria"
      {...(placeholder === undefined ? {} : { placeholder })}
      {...(name === undefined ? {} : { name })}
    >
      <FieldLabel>{label}</FieldLabel>
      <Button className="stoa-select-button">
        <SelectValue className="stoa-select-value" />
        <svg viewBox="0 0 16 16" aria-hidden="true" className="stoa-select-sign">
          <path d="M4 6l4 4 4-4" />
        </svg>
      </Button>
      {help != null && (
        <Text slot="description" className="stoa-field-help">
          {help}
        </Text>
      )}
      <ErrorText>{error}</ErrorText>
      <Popover className="stoa-select-popover" offset={4}>
        <ListBox className="stoa-select-list" items={options.map((option) => ({ ...option, id: option.value }))}>
          {(option) => (
            <ListBoxItem className="stoa-select-item" id={option.value} textValue={option.label}>
              <Text slot="label">{option.label}</Text>
              {option.hint !== undefined && (
                <Text slot="description" className="stoa-field-help">
                  {option.hint}
                </Text>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}
