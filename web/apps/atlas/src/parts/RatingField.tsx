import { useId } from 'react';

import { useText } from '../text/useText.ts';

const most = [1, 2, 3, 4, 5] as const;

export interface RatingFieldProps {
  /** 0 for none. */
  readonly value: number;
  readonly onChange: (value: number) => void;
  readonly error?: string | undefined;
}

/** One to five stars, or none. */
export function RatingField({ value, onChange, error }: RatingFieldProps) {
  const { t } = useText();
  const name = useId();
  return (
    <fieldset className="rating">
      <legend className="stoa-field-label">
        {t.journal.rating} <span className="stoa-field-optional">{t.journal.optional}</span>
      </legend>
      <div className="rating-choices">
        {most.map((stars) => (
          <label key={stars} className="rating-star" title={t.journal.stars({ n: stars })}>
            <input
              type="radio"
              name={name}
              value={stars}
              checked={value === stars}
              onChange={() => onChange(stars)}
              aria-label={t.journal.stars({ n: stars })}
            />
            <Star full={stars <= value} />
          </label>
        ))}
        {value > 0 && (
          <button type="button" className="rating-none" onClick={() => onChange(0)}>
            {t.journal.noRating}
          </button>
        )}
      </div>
      {error !== undefined && <p className="note-problem">{error}</p>}
    </fieldset>
  );
}

/** A rating to be read. */
export function Rating({ value }: { readonly value: number }) {
  const { t } = useText();
  return (
    <span className="stars" role="img" aria-label={t.journal.stars({ n: value })}>
      {most.map((stars) => (
        <Star key={stars} full={stars <= value} />
      ))}
    </span>
  );
}

function Star({ full }: { readonly full: boolean }) {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true" className="star" data-full={full || undefined}>
      <path d="M12 4l2.400 5.200 5.600.700-4.100 3.900 1.100 5.600L12 16.600l-5 2.800 1.100-5.600L4 9.900l5.600-.700z" />
    </svg>
  );
}
