import type { HTMLAttributes } from 'react';
import { names } from './names.ts';
import './Card.css';

export interface CardProps extends HTMLAttributes<HTMLElement> {
  as?: 'div' | 'section' | 'article' | 'main' | 'li';
}

/** One thing on the page, framed by a line. */
export function Card({ as: Tag = 'div', className, ...rest }: CardProps) {
  return <Tag {...rest} className={names('stoa-card', className)} />;
}
