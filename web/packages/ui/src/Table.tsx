import { useState, type ReactNode, type TdHTMLAttributes, type ThHTMLAttributes } from 'react';
import { Button } from 'react-aria-components/Button';
import { names } from './names.ts';
import './Table.css';

export interface TableProps {
  /** Names the table for screen readers; shown above it when captionShown. */
  caption: ReactNode;
  captionShown?: boolean;
  children: ReactNode;
}

/** A dense table that scrolls sideways inside its own frame. */
export function Table({ caption, captionShown = false, children }: TableProps) {
  return (
    <div className="stoa-table-frame">
      <table className="stoa-table">
        <caption className={captionShown ? 'stoa-table-caption' : 'stoa-hidden'}>{caption}</caption>
        {children}
      </table>
    </div>
  );
}

export interface ColumnHeadProps extends ThHTMLAttributes<HTMLTableCellElement> {
  numeric?: boolean;
  /** The way this column is sorted now; absent when it can't be sorted. */
  sort?: 'ascending' | 'descending' | 'none';
  onSort?: () => void;
}

export function ColumnHead({ numeric, sort, onSort, className, children, ...rest }: ColumnHeadProps) {
  return (
    <th {...rest} scope="col" aria-sort={sort} className={names(numeric && 'stoa-table-number', className)}>
      {onSort ? (
        <button type="button" className="stoa-table-sort" onClick={onSort}>
          {children}
          <svg viewBox="0 0 16 16" aria-hidden="true" data-sort={sort}>
            <path d="M4.5 9.5 8 6l3.5 3.5" />
          </svg>
        </button>
      ) : (
        children
      )}
    </th>
  );
}

export interface CellProps extends TdHTMLAttributes<HTMLTableCellElement> {
  /** Numbers stand at the end of the cell in tabular figures. */
  numeric?: boolean;
}

export function Cell({ numeric, className, ...rest }: CellProps) {
  return <td {...rest} className={names(numeric && 'stoa-table-number', className)} />;
}

/** An id in monospace that is copied by a press. */
export function CopyableId({
  value,
  copyLabel,
  copiedLabel,
}: {
  value: string;
  copyLabel: string;
  copiedLabel: string;
}) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
    setTimeout(() => {
      setCopied(false);
    }, 2000);
  };
  return (
    <Button
      className="stoa-id"
      aria-label={`${copyLabel}: ${value}`}
      onPress={() => {
        copy().catch(() => {
          setCopied(false);
        });
      }}
    >
      <code>{value}</code>
      <span className="stoa-id-state" role="status">
        {copied ? copiedLabel : ''}
      </span>
    </Button>
  );
}
