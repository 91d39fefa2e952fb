import type { ReactNode, Ref } from 'react';
import { Button } from 'react-aria-components/Button';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import {
  SearchField as AriaSearchField,
  type SearchFieldProps as AriaSearchFieldProps,
} from 'react-aria-components/SearchField';
import { names } from './names.ts';
import './Field.css';
import './SearchField.css';

export interface SearchFieldProps extends Omit<AriaSearchFieldProps, 'children' | 'className' | 'style'> {
  label: ReactNode;
  /** Shown above the field, or kept for screen readers. */
  labelHidden?: boolean;
  placeholder?: string;
  clearLabel: string;
  inputRef?: Ref<HTMLInputElement>;
  className?: string;
}

/** Esc or the cross empties it, Enter calls onSubmit. */
export function SearchField({
  label,
  labelHidden = true,
  placeholder,
  clearLabel,
  inputRef,
  className,
  ...rest
}: SearchFieldProps) {
  return (
    <AriaSearchField {...rest} className={names('stoa-field stoa-search', className)}>
      <Label className={labelHidden ? 'stoa-hidden' : 'stoa-field-label'}>{label}</Label>
      <div className="stoa-input-frame">
        <svg viewBox="0 0 24 24" aria-hidden="true" className="stoa-search-sign">
          <circle cx="10.5" cy="10.5" r="6" />
          <path d="M15 15l5 5" />
        </svg>
        <Input
          className="stoa-input"
          {...(placeholder === undefined ? {} : { placeholder })}
          {...(inputRef === undefined ? {} : { ref: inputRef })}
        />
        <Button className="stoa-reveal stoa-search-clear" aria-label={clearLabel}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M7 7l10 10M17 7 7 17" />
          </svg>
        </Button>
      </div>
    </AriaSearchField>
  );
}
