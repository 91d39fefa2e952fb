import './Spinner.css';

export interface SpinnerProps {
  /** What is being waited for. Absent when text beside it says so already. */
  label?: string | undefined;
  size?: 'small' | 'large';
}

/** A turning ring. With a label it is announced as a progress bar without a known end. */
export function Spinner({ label, size = 'small' }: SpinnerProps) {
  const ring = (
    <svg className="stoa-spinner" data-size={size} viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="9" className="stoa-spinner-track" />
      <path d="M12 3a9 9 0 0 1 9 9" className="stoa-spinner-arc" />
    </svg>
  );
  if (label === undefined) return ring;
  return (
    <span role="progressbar" aria-label={label} className="stoa-spinner-box">
      {ring}
    </span>
  );
}
