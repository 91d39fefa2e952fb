import { Link as AriaLink, type LinkProps as AriaLinkProps } from 'react-aria-components/Link';
import type { ReactNode } from 'react';
import { names } from './names.ts';
import './Link.css';

export interface LinkProps extends Omit<AriaLinkProps, 'children' | 'className' | 'style'> {
  children: ReactNode;
  /** text: inside a sentence; quiet: beside a form; button: looks like a secondary button; primary: like the primary one. */
  variant?: 'text' | 'quiet' | 'button' | 'primary';
  className?: string;
}

/** Goes somewhere. What acts in place is a Button. */
export function Link({ variant = 'text', className, children, ...rest }: LinkProps) {
  return (
    <AriaLink {...rest} className={names('stoa-link', className)} data-variant={variant}>
      {children}
    </AriaLink>
  );
}
