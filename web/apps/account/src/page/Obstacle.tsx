import { Button } from '@stoa/ui/Button';
import { Callout } from '@stoa/ui/Callout';
import { useText } from './text.ts';

/** What is in the way of a part of the page, and the way on. */
export function Obstacle({ why, onAgain }: { why: string; onAgain: () => void }) {
  const text = useText();
  return (
    <>
      <Callout tone="warn" announce="alert">
        <p>{why}</p>
      </Callout>
      <Button size="small" onPress={onAgain}>
        {text.tryAgain}
      </Button>
    </>
  );
}
