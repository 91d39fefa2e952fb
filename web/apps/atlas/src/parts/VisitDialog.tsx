/** Writing a visit down, or changing it. A native dialog: the rest of the page rests, Esc closes. */
import { StoaError } from '@stoa/client';
import { Button, Callout, Form, FormActions, TextField } from '@stoa/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState } from 'react';

import type { City } from '../api/cities.ts';
import { type Visit, type VisitText, addVisit, changeVisit, noteLength, restoreVisit } from '../api/journal.ts';
import { useSite } from '../api/site.ts';
import { useText } from '../text/useText.ts';
import { useAnnounce } from './Announcer.tsx';
import { sentence } from './Failure.tsx';
import { NoteField } from './NoteField.tsx';
import { RatingField } from './RatingField.tsx';
import './VisitDialog.css';

export interface VisitDialogProps {
  readonly city: Pick<City, '_id' | 'name' | 'country'>;
  /** The visit to change, as it was when the dialog was opened; a new one without it. */
  readonly visit?: Visit;
  /** The visit to change as it is now; undefined when it was removed meanwhile. */
  readonly current?: Visit | undefined;
  readonly onClose: () => void;
}

export function VisitDialog({ city, visit, current, onClose }: VisitDialogProps) {
  const { t } = useText();
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const close = () => dialog.current?.close();
  return (
    <dialog ref={dialog} className="visit" aria-labelledby={titleId} onClose={onClose}>
      <h2 id={titleId}>{(visit === undefined ? t.journal.addTitle : t.journal.editTitle)({ place: city.name })}</h2>
      <VisitForm city={city} visit={visit} current={current} labelledBy={titleId} onDone={close} />
    </dialog>
  );
}

interface VisitFormProps {
  readonly city: VisitDialogProps['city'];
  readonly visit: Visit | undefined;
  readonly current: Visit | undefined;
  readonly labelledBy: string;
  readonly onDone: () => void;
}

type Problems = { readonly [Field in 'visitedOn' | 'note' | 'rating']?: string };

function VisitForm({ city, visit, current, labelledBy, onDone }: VisitFormProps) {
  const spoken = useText();
  const { t } = spoken;
  const { stoa } = useSite();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const [visitedOn, setVisitedOn] = useState(visit?.visitedOn ?? today());
  const [rating, setRating] = useState(visit?.rating ?? 0);
  const [note, setNote] = useState(visit?.note ?? '');
  const [problems, setProblems] = useState<Problems>({});
  const dateInput = useRef<HTMLInputElement>(null);

  const isGone = visit !== undefined && current === undefined;
  const isChanged = visit?._updatedDate.getTime() !== current?._updatedDate.getTime();

  const save = useMutation({
    mutationFn: (text: VisitText) => {
      if (visit === undefined) return addVisit(stoa, text);
      return isGone ? restoreVisit(stoa, visit._id, text) : changeVisit(stoa, visit._id, text);
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['journal'] });
      announce(t.journal.saved({ place: city.name }));
      onDone();
    },
    onError: (error) => setProblems(problemsOf(error)),
  });

  const submit = () => {
    if (save.isPending) return;
    const found: Problems = {
      ...(visitedOn === ''
        ? { visitedOn: t.journal.noDate }
        : visitedOn > today()
          ? { visitedOn: t.journal.future }
          : {}),
      ...(note.length > noteLength ? { note: t.journal.tooLong({ n: noteLength }) } : {}),
    };
    setProblems(found);
    if (found.visitedOn !== undefined) dateInput.current?.focus();
    if (Object.keys(found).length > 0) return;
    save.mutate({
      city: city._id,
      country: city.country,
      visitedOn,
      ...(rating > 0 ? { rating } : {}),
      ...(note.trim() === '' ? {} : { note: note.trim() }),
    });
  };

  return (
    <Form onSubmit={submit} labelledBy={labelledBy} className="visit-form">
      {save.error !== null && Object.keys(problems).length === 0 && (
        <Callout tone="bad" announce="alert" title={t.journal.notSaved}>
          {save.error instanceof StoaError && save.error.code === 'WDE0073'
            ? t.journal.goneText
            : sentence(save.error, spoken)}
        </Callout>
      )}
      {isChanged && !save.isPending && !save.isSuccess && (
        <Callout tone="warn" announce="status">
          {isGone ? t.journal.goneMeanwhile : t.journal.changedMeanwhile}
        </Callout>
      )}
      <TextField
        type="date"
        label={t.journal.visitedOn}
        value={visitedOn}
        onChange={setVisitedOn}
        error={problems.visitedOn}
        inputRef={dateInput}
        isRequired
      />
      <RatingField value={rating} onChange={setRating} error={problems.rating} />
      <NoteField value={note} onChange={setNote} error={problems.note} />
      <FormActions>
        <Button type="submit" variant="primary" pending={save.isPending}>
          {t.journal.save}
        </Button>
        <Button variant="quiet" onPress={onDone}>
          {t.journal.cancel}
        </Button>
      </FormActions>
    </Form>
  );
}

/** The server's own words, at the fields they are about. */
function problemsOf(error: unknown): Problems {
  if (!(error instanceof StoaError)) return {};
  const entries = error.violations.map(({ field, description }) => [field.split('.').at(-1), description] as const);
  return Object.fromEntries(
    entries.filter(([field]) => field === 'visitedOn' || field === 'note' || field === 'rating'),
  );
}

/** Today where the person is, `2024-03-05`. */
function today(): string {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}
