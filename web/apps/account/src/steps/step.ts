/** What every step page is given, and how it reads the server's problems. */
import type { FlowView, Problem, Step } from '@stoa/api';
import type { SummaryProblem } from '@stoa/ui/Form';
import type { Flow } from '../flow/useFlow.ts';
import type { Catalogue } from '../text/languages.ts';
import { problemText } from '../text/problems.ts';

export type StepOf<Type extends Step['type']> = Extract<Step, { type: Type }>;

export interface StepProps<Type extends Step['type']> {
  view: FlowView;
  step: StepOf<Type>;
  flow: Flow;
}

/** The last segment of a problem's field: `profile.firstName` and `firstName` mean the same input. */
const leaf = (problem: Problem) => problem.field?.split('.').at(-1) ?? null;

/** Problems found before sending, by field: codes of problems.ts. They give way to the server's. */
export type LocalProblems = Readonly<Record<string, string>>;

/** Spreads problems over the fields a page has; what fits no field stands above the form. */
export function problemsFor(
  view: FlowView,
  text: Catalogue,
  fields: readonly string[],
  local: LocalProblems,
  passwordMinLength?: number,
) {
  const hasLocal = Object.keys(local).length > 0;
  const known = new Set(fields);
  const say = (problem: Problem) => problemText(text, problem.code, problem.message, passwordMinLength);
  const at = (field: string): string | undefined => {
    const code = local[field];
    if (code !== undefined) return problemText(text, code, code, passwordMinLength);
    if (hasLocal) return undefined;
    const found = view.problems.filter((it) => leaf(it) === field).map(say);
    return found.length > 0 ? found.join(' ') : undefined;
  };
  const summary: SummaryProblem[] = hasLocal
    ? []
    : view.problems
        .filter((it) => !known.has(leaf(it) ?? ''))
        .map((it, idx) => ({ key: `${it.code}${idx}`, text: say(it) }));
  return { at, summary };
}

/** Marks empty ones among the given values. */
export function missing(values: Readonly<Record<string, string>>): LocalProblems {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value.trim() === '')
      .map(([field]) => [field, 'REQUIRED']),
  );
}

/** Moves the focus to the first field that is marked as wrong. */
export function focusFirstProblem(): void {
  requestAnimationFrame(() => {
    document.querySelector<HTMLElement>('main [aria-invalid="true"]')?.focus();
  });
}

export const siteName = (view: FlowView, text: Catalogue): string => view.site.name || text.thisSite;
