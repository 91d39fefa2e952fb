import type { ReactNode, Ref } from 'react';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextField as AriaTextField, type TextFieldProps as AriaTextFieldProps } from 'react-aria-components/TextField';
import { names } from './names.ts';
import './Field.css';

export interface TextFieldProps extends Omit<
  AriaTextFieldProps,
  'children' | 'className' | 'style' | 'isInvalid' | 'validate' | 'validationBehavior'
> {
  label: ReactNode;
  /** A sentence under the label's field that helps to fill it. */
  help?: ReactNode;
  /** What is wrong, in the server's words or a translation of them. Its presence makes the field invalid. */
  error?: ReactNode;
  /** Said beside the label of a field that may stay empty, for example "optional". */
  optional?: ReactNode;
  placeholder?: string;
  /** Text that is left to right in every language: addresses, codes, URLs. */
  ltr?: boolean;
  inputRef?: Ref<HTMLInputElement>;
  /** Stands inside the frame after the input, for example a reveal button. */
  after?: ReactNode;
  className?: string;
}

/** Label, input, help and error, tied together for eyes and ears. */
export function TextField({
  label,
  help,
  error,
  optional,
  placeholder,
  ltr = false,
  inputRef,
  after,
  className,
  ...rest
}: TextFieldProps) {
  const invalid = error != null && error !== false && error !== '';
  return (
    <AriaTextField {...rest} isInvalid={invalid} validationBehavior="aria" className={names('stoa-field', className)}>
      <FieldLabel optional={optional}>{label}</FieldLabel>
      <div className="stoa-input-frame">
        <Input
          className="stoa-input"
          data-ltr={ltr || undefined}
          {...(placeholder === undefined ? {} : { placeholder })}
          {...(inputRef === undefined ? {} : { ref: inputRef })}
        />
        {after}
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

/** The label of a field, with an optional quiet remark at its end. */
export function FieldLabel({ children, optional }: { children: ReactNode; optional?: ReactNode }) {
  return (
    <Label className="stoa-field-label">
      {children}
      {optional != null && <span className="stoa-field-optional"> {optional}</span>}
    </Label>
  );
}

/** What is wrong with a field, with a sign so that colour is not the only mark. */
export function ErrorText({ children }: { children?: ReactNode }) {
  if (children == null || children === false || children === '') return null;
  return (
    <FieldError className="stoa-field-error">
      <svg viewBox="0 0 16 16" aria-hidden="true" className="stoa-field-error-sign">
        <circle cx="8" cy="8" r="6.25" />
        <path d="M8 4.75v4M8 11v.01" />
      </svg>
      <span>{children}</span>
    </FieldError>
  );
}
