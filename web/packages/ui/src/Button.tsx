import { useId, type ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { Spinner } from './Spinner.tsx';
import { names } from './names.ts';
import './Button.css';

export interface ButtonProps extends Omit<
  AriaButtonProps,
  'children' | 'className' | 'style' | 'isDisabled' | 'isPending'
> {
  children: ReactNode;
  /** primary: the one thing to do here; secondary: another choice; quiet: text only; link: inside or beside a sentence; danger: destroys. */
  variant?: 'primary' | 'secondary' | 'quiet' | 'link' | 'danger';
  size?: 'normal' | 'small';
  /** As wide as its container. */
  wide?: boolean;
  /** Work is under way: the button keeps its width and the focus, and does nothing. */
  pending?: boolean;
  /** Why it can't be used now. The button stays reachable, so that the reason can be read. */
  disabledReason?: string | undefined;
  className?: string;
}

export function Button({
  children,
  variant = 'secondary',
  size = 'normal',
  wide = false,
  pending = false,
  disabledReason,
  className,
  type = 'button',
  onPress,
  ...rest
}: ButtonProps) {
  const reasonId = useId();
  const off = disabledReason !== undefined;
  const idle = off || pending;
  return (
    <span className={names('stoa-button-box', wide && 'stoa-button-box-wide')}>
      <AriaButton
        {...rest}
        {...(idle || !onPress ? {} : { onPress })}
        {...(off ? { 'aria-describedby': reasonId } : {})}
        {...(idle ? { 'aria-disabled': true } : {})}
        type={idle ? 'button' : type}
        className={names('stoa-button', className)}
        data-variant={variant}
        data-size={size}
        data-off={off || undefined}
        data-busy={pending || undefined}
      >
        <span className="stoa-button-label">{children}</span>
        {pending && (
          <span className="stoa-button-busy">
            <Spinner />
          </span>
        )}
      </AriaButton>
      {off && (
        <span id={reasonId} role="tooltip" className="stoa-button-reason">
          {disabledReason}
        </span>
      )}
    </span>
  );
}
