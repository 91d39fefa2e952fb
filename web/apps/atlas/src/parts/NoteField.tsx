import { useId } from 'react';

import { noteLength } from '../api/journal.ts';
import { useText } from '../text/useText.ts';

export interface NoteFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: string | undefined;
}

/** A longer text; says how much room is left when it gets scarce. */
export function NoteField({ value, onChange, error }: NoteFieldProps) {
  const { t } = useText();
  const id = useId();
  const left = noteLength - value.length;
  return (
    <div className="note">
      <label htmlFor={id} className="stoa-field-label">
        {t.journal.note} <span className="stoa-field-optional">{t.journal.optional}</span>
      </label>
      <textarea
        id={id}
        value={value}
        rows={5}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-foot`}
        onChange={(event) => onChange(event.target.value)}
      />
      <div id={`${id}-foot`} className="note-foot">
        <span className="note-problem">{error ?? ''}</span>
        {left <= 200 && <span className={left < 0 ? 'note-problem' : 'quiet'}>{t.journal.left({ n: left })}</span>}
      </div>
    </div>
  );
}
