import type { ComponentProps } from 'react';
import { names } from './names.ts';
import './Link.css';

export interface LinkProps extends Omit<ComponentProps<'a'>, 'style'> {
  /**
   * text: inside a sentence; quiet: beside a form; name: in a table or list; button: looks like a secondary button;
   * primary: like the primary one; plain: looks as its `className` says.
   */
  variant?: 'text' | 'quiet' | 'name' | 'button' | 'primary' | 'plain';
}

/**
 * Goes somewhere. What acts in place is a Button. Its behaviour is the browser's own, so that an app with a router can
 * make its link of it: `createLink(Link)` of TanStack Router.
 */
export function Link({ variant = 'text', className, children, ...rest }: LinkProps) {
  return (
    <a {...rest} className={names('stoa-link', className)} data-variant={variant}>
      {children}
    </a>
  );
}
