import { type RefObject, useLayoutEffect, useRef } from 'react';

interface Held {
  readonly id: string;
  /** Which of the entries it is, and which of the entry's controls has the focus. */
  readonly entry: number;
  readonly control: number;
  readonly element: Element | undefined;
}

/**
 * Keeps the focus in a list whose entries come, move and go without the person's doing. Elements with `data-entry` are
 * the entries. When the one with the focus moves, the focus goes with it; when it goes, to the one that takes its place;
 * when there is none left, to the heading of the page.
 * @param entries What the list is made of.
 * @returns What to call before the entries change.
 */
export function useKeptFocus(list: RefObject<HTMLElement | null>, entries: unknown): () => void {
  const held = useRef<Held | null>(null);
  useLayoutEffect(() => {
    const before = held.current;
    held.current = null;
    // Else the element with the focus is still there, or the person went on to another.
    const isLost = before !== null && before.element?.isConnected === false && hasFocus(document.body);
    if (!isLost) return;
    const all = entriesOf(list.current);
    const next = all.find((each) => each.dataset['entry'] === before.id) ?? all[Math.min(before.entry, all.length - 1)];
    (controlsOf(next)[before.control] ?? document.querySelector('h1'))?.focus({ preventScroll: true });
  }, [list, entries]);
  return () => {
    const all = entriesOf(list.current);
    const entry = all.findIndex((each) => each.contains(document.activeElement));
    const controls = controlsOf(all[entry]);
    const control = controls.findIndex(hasFocus);
    const id = all[entry]?.dataset['entry'];
    held.current = id === undefined || control < 0 ? null : { id, entry, control, element: controls[control] };
  };
}

const hasFocus = (element: Element): boolean => element === document.activeElement;

const entriesOf = (list: HTMLElement | null): HTMLElement[] => [
  ...(list?.querySelectorAll<HTMLElement>('[data-entry]') ?? []),
];

const controlsOf = (entry: HTMLElement | undefined): HTMLElement[] => [
  ...(entry?.querySelectorAll<HTMLElement>('a, button') ?? []),
];
