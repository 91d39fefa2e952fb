/** The member's own visits; for visitors, what a journal would be. */
import type { Change } from '@stoa/client';
import { Button, Callout, EmptyState, LoadingState } from '@stoa/ui';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type RefObject, useRef, useState } from 'react';

import { type City, citiesByIdQuery, cityQuery } from '../api/cities.ts';
import { type CountryEntry, countriesQuery, countryName } from '../api/countries.ts';
import { type Visit, journalQuery } from '../api/journal.ts';
import { useLiveJournal } from '../api/liveJournal.ts';
import { signIn, useLoggedIn } from '../api/member.ts';
import { useSite } from '../api/site.ts';
import { useLeaving } from '../parts/Account.tsx';
import { useAnnounce } from '../parts/Announcer.tsx';
import { FailureState } from '../parts/Failure.tsx';
import { Link } from '../parts/Link.tsx';
import { LiveState } from '../parts/LiveState.tsx';
import { Page } from '../parts/Page.tsx';
import { Rating } from '../parts/RatingField.tsx';
import { useKeptFocus } from '../parts/useKeptFocus.ts';
import { useRemoval } from '../parts/useRemoval.ts';
import { VisitDialog } from '../parts/VisitDialog.tsx';
import { useText } from '../text/useText.ts';
import './Journal.css';

const route = getRouteApi('/journal');

export function Journal() {
  const { stoa } = useSite();
  return useLoggedIn(stoa) ? <MemberJournal /> : <VisitorJournal />;
}

function VisitorJournal() {
  const { t } = useText();
  const { stoa } = useSite();
  const leave = useLeaving();
  return (
    <Page title={t.journal.title}>
      <EmptyState
        title={t.journal.visitorTitle}
        action={
          <Button variant="primary" pending={leave.pending} onPress={() => leave.by(() => signIn(stoa, '/journal'))}>
            {t.journal.signIn}
          </Button>
        }
      >
        {t.journal.visitorText}
        {leave.failure !== null && <p role="alert">{leave.failure}</p>}
      </EmptyState>
    </Page>
  );
}

function MemberJournal() {
  const { t } = useText();
  const { stoa } = useSite();
  const { data: visits, error, refetch } = useQuery(journalQuery(stoa));
  const ids = [...new Set(visits?.map(({ city }) => city))].sort();
  const places = useQuery(citiesByIdQuery(stoa, ids));
  const list = useRef<HTMLDivElement>(null);
  const holdFocus = useKeptFocus(list, visits);
  const status = useLiveJournal({ onUpdate: holdFocus, onElsewhere: useNews() });
  const isReady = visits !== undefined && (ids.length === 0 || !places.isPending);
  // Once the visits are there, a place that is new among them takes nothing off the page.
  const [wasReady, setWasReady] = useState(isReady);
  if (isReady && !wasReady) setWasReady(true);
  if (error !== null && visits === undefined) {
    return (
      <Page title={t.journal.title}>
        <FailureState error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  if (visits === undefined || !(isReady || wasReady)) {
    return (
      <Page title={t.journal.title}>
        <LoadingState label={t.states.loading} />
      </Page>
    );
  }
  return (
    <Page
      title={t.journal.title}
      lead={
        <>
          {visits.length > 0 && <p>{t.journal.lead({ n: visits.length })}</p>}
          <LiveState status={status} />
        </>
      }
      actions={
        visits.length > 0 ? (
          <Link to="/places" variant="button">
            {t.journal.find}
          </Link>
        ) : undefined
      }
    >
      <Visits
        visits={visits}
        cities={places.data ?? new Map()}
        areMoreCities={places.isFetching}
        list={list}
        holdFocus={holdFocus}
      />
    </Page>
  );
}

/** Says what was changed elsewhere to those who do not see it. */
function useNews(): (changes: readonly Change<Visit>[]) => void {
  const { t } = useText();
  const { stoa, queries } = useSite();
  const announce = useAnnounce();
  const tell = async ({ type, item, previous }: Change<Visit>) => {
    const visit = item ?? previous;
    const city = visit === null ? null : await queries.fetchQuery(cityQuery(stoa, visit.city)).catch(() => null);
    const said = {
      enter: t.journal.addedElsewhere,
      update: t.journal.changedElsewhere,
      leave: t.journal.removedElsewhere,
    };
    announce(said[type]({ place: city?.name ?? t.journal.unknownPlace }));
  };
  return (changes) => {
    const [first] = changes;
    if (changes.length > 1) announce(t.journal.manyElsewhere({ n: changes.length }));
    else if (first !== undefined) void tell(first);
  };
}

interface VisitsProps {
  readonly visits: readonly Visit[];
  readonly cities: ReadonlyMap<string, City>;
  /** Some are on their way. */
  readonly areMoreCities: boolean;
  readonly list: RefObject<HTMLDivElement | null>;
  /** Called before this page changes the visits, so that the focus stays in the list. */
  readonly holdFocus: () => void;
}

function Visits({ visits, cities, areMoreCities, list, holdFocus }: VisitsProps) {
  const { t, language } = useText();
  const { stoa } = useSite();
  const { edit } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: countries } = useSuspenseQuery(countriesQuery(stoa, language));
  const unknownPlace = areMoreCities ? t.states.loading : t.journal.unknownPlace;
  const removal = useRemoval((visit) => cities.get(visit.city)?.name ?? unknownPlace);
  const close = () => void navigate({ search: {}, replace: true, resetScroll: false });
  const current = visits.find(({ _id }) => _id === edit);
  // The visit as it was when its form was opened: what is typed stays, whatever happens to the visit meanwhile.
  const [opened, setOpened] = useState(current);
  if (opened?._id !== edit && (edit === undefined ? opened : current) !== undefined) {
    setOpened(edit === undefined ? undefined : current);
  }
  const edited = opened?._id === edit ? opened : undefined;
  return (
    <>
      {removal.notice !== null && (
        <div className="journal-notice">
          <Callout tone={removal.notice.tone}>
            <span>{removal.notice.text}</span>
            {removal.notice.undo !== null && (
              <Button size="small" variant="quiet" onPress={removal.notice.undo}>
                {t.journal.undo}
              </Button>
            )}
            <Button size="small" variant="quiet" onPress={removal.dismiss}>
              {t.journal.dismiss}
            </Button>
          </Callout>
        </div>
      )}
      {edit !== undefined && edited === undefined && (
        <Callout tone="warn" title={t.journal.goneTitle}>
          {t.journal.goneText}{' '}
          <Link to="/journal" search={{}}>
            {t.journal.back}
          </Link>
        </Callout>
      )}
      {visits.length === 0 ? (
        <EmptyState
          title={t.journal.emptyTitle}
          action={
            <Link to="/places" variant="primary">
              {t.journal.find}
            </Link>
          }
        >
          {t.journal.emptyText}
        </EmptyState>
      ) : (
        <div ref={list} className="journal-years">
          {byYear(visits).map(([year, members]) => (
            <section key={year} className="journal-year" aria-labelledby={`year-${year}`}>
              <h2 id={`year-${year}`}>{year}</h2>
              <ol className="journal-list">
                {members.map((visit) => (
                  <Entry
                    key={visit._id}
                    visit={visit}
                    city={cities.get(visit.city)}
                    unknownPlace={unknownPlace}
                    country={countries.find(({ _id }) => _id === visit.country)}
                    onRemove={() => {
                      holdFocus();
                      removal.remove(visit);
                    }}
                  />
                ))}
              </ol>
            </section>
          ))}
        </div>
      )}
      {edited !== undefined && (
        <VisitDialog
          key={edited._id}
          visit={edited}
          current={current}
          city={cities.get(edited.city) ?? { _id: edited.city, name: unknownPlace, country: edited.country }}
          onClose={close}
        />
      )}
    </>
  );
}

/** The visits come latest first, so each year's stand together. */
function byYear(visits: readonly Visit[]): [string, Visit[]][] {
  const years = new Map<string, Visit[]>();
  for (const visit of visits) {
    const year = visit.visitedOn.slice(0, 4);
    years.set(year, [...(years.get(year) ?? []), visit]);
  }
  return [...years];
}

interface EntryProps {
  readonly visit: Visit;
  readonly city: City | undefined;
  /** What to call the place without its city. */
  readonly unknownPlace: string;
  readonly country: CountryEntry | undefined;
  readonly onRemove: () => void;
}

function Entry({ visit, city, unknownPlace, country, onRemove }: EntryProps) {
  const { t, day, language } = useText();
  const navigate = route.useNavigate();
  const place = city?.name ?? unknownPlace;
  return (
    <li className="entry" data-entry={visit._id}>
      <time dateTime={visit.visitedOn} title={day(visit.visitedOn, 'full')} className="entry-day">
        {day(visit.visitedOn)}
      </time>
      <div className="entry-body">
        <h3 className="entry-place">
          {city === undefined ? (
            place
          ) : (
            <Link to="/places/$id" params={{ id: city._id }} variant="name">
              {place}
            </Link>
          )}
          {country !== undefined && (
            <span className="entry-country">
              <span className="flag" aria-hidden="true">
                {country.flag}
              </span>
              {countryName(country, language)}
            </span>
          )}
        </h3>
        {visit.rating !== undefined && <Rating value={visit.rating} />}
        {visit.note !== undefined && <p className="entry-note">{visit.note}</p>}
      </div>
      <div className="entry-tools">
        <Button
          size="small"
          variant="quiet"
          aria-label={t.journal.editOf({ place })}
          onPress={() => void navigate({ search: { edit: visit._id }, resetScroll: false })}
        >
          {t.journal.edit}
        </Button>
        <Button size="small" variant="quiet" aria-label={t.journal.removeOf({ place })} onPress={onRemove}>
          {t.journal.remove}
        </Button>
      </div>
    </li>
  );
}
