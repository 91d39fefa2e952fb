import './Logo.css';

export interface MarkProps {
  /** CSS length; the mark is square. */
  size?: string;
  /** Announced name; without it the mark is decoration. */
  label?: string | undefined;
}

/** Two columns under a beam, on steps, with the walk between them: drawn in one line weight. */
export function Mark({ size = '2rem', label }: MarkProps) {
  return (
    <svg
      className="stoa-mark"
      viewBox="0 0 32 32"
      width={size}
      height={size}
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      <path d="M3.5 5.5h25M5.5 9.5h21" />
      <path d="M8 9.5v13M12 9.5v13M20 9.5v13M24 9.5v13" />
      <path d="M5.5 22.5h21M3.5 26.5h25" />
    </svg>
  );
}

export interface LogoProps {
  /** The word beside the mark. */
  name?: string;
}

export function Logo({ name = 'Stoa' }: LogoProps) {
  return (
    <span className="stoa-logo">
      <Mark />
      <span className="stoa-logo-name">{name}</span>
    </span>
  );
}

/** A row of columns along the edge of a page. Decoration: it says nothing and takes no space in the order of reading. */
export function Colonnade() {
  return (
    <svg className="stoa-colonnade" width="100%" height="120" aria-hidden="true">
      <defs>
        <pattern id="stoa-colonnade" width="96" height="120" patternUnits="userSpaceOnUse" x="0">
          <path d="M0 .5h96M0 10.5h96M0 18.5h96M33 26.5h30M36 32.5h24M39 32.5 37.5 108M57 32.5 58.5 108M45 33.5V107M51 33.5V107M34 108.5h28M31 113.5h34M0 119.5h96" />
        </pattern>
      </defs>
      <rect width="100%" height="120" fill="url(#stoa-colonnade)" />
    </svg>
  );
}
