import { useState, type ReactNode, type Ref } from 'react';
import { Input } from 'react-aria-components/Input';
import { Text } from 'react-aria-components/Text';
import { TextField as AriaTextField } from 'react-aria-components/TextField';
import { ErrorText, FieldLabel } from './TextField.tsx';
import './Field.css';
import './CodeField.css';

export interface CodeFieldProps {
  label: ReactNode;
  value: string;
  onChange: (digits: string) => void;
  /** Called once when the last digit arrives by typing, pasting or filling in. */
  onComplete?: (digits: string) => void;
  length?: number;
  help?: ReactNode;
  error?: ReactNode;
  name?: string;
  autoFocus?: boolean;
  inputRef?: Ref<HTMLInputElement>;
}

/** Keeps the digits of a text, whatever script they are written in, and drops all else. */
export function digitsOf(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    .replace(/[\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) - 0x6f0))
    .replace(/\D/g, '');
}

/** A short code of digits: one real input, so that pasting, filling in and screen readers just work; the cells are a drawing of it. */
export function CodeField({
  label,
  value,
  onChange,
  onComplete,
  length = 6,
  help,
  error,
  name,
  autoFocus,
  inputRef,
}: CodeFieldProps) {
  const [focused, setFocused] = useState(false);
  const invalid = error != null && error !== '';
  const change = (text: string) => {
    const digits = digitsOf(text).slice(0, length);
    onChange(digits);
    if (digits.length === length && digits !== value) onComplete?.(digits);
  };
  return (
    <AriaTextField
      className="stoa-field"
      isInvalid={invalid}
      validationBehavior="aria"
      value={value}
      onChange={change}
      onFocusChange={setFocused}
      inputMode="numeric"
      autoComplete="one-time-code"
      autoCorrect="off"
      spellCheck="false"
      {...(name === undefined ? {} : { name })}
      {...(autoFocus === undefined ? {} : { autoFocus })}
    >
      <FieldLabel>{label}</FieldLabel>
      <div className="stoa-code" data-invalid={invalid || undefined}>
        <Input
          className="stoa-code-input"
          {...(inputRef === undefined ? {} : { ref: inputRef })}
          onSelect={(event) => {
            const input = event.currentTarget;
            const end = input.value.length;
            if (input.selectionStart === input.selectionEnd && input.selectionStart !== end)
              input.setSelectionRange(end, end);
          }}
        />
        <div className="stoa-code-cells" aria-hidden="true">
          {Array.from({ length }, (_, idx) => (
            <span
              key={idx}
              className="stoa-code-cell"
              data-active={(focused && idx === Math.min(value.length, length - 1)) || undefined}
            >
              {value[idx]}
            </span>
          ))}
        </div>
      </div>
      {help != null && (
        <Text slot="description" className="stoa-field-help">
          {help}
        </Text>
      )}
      <ErrorText>{error}</ErrorText>
    </AriaTextField>
  );
}
