/** One search over countries and places: suggestions as you type, moved through by keyboard (WAI-ARIA combobox). */
import { Spinner } from '@stoa/ui';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';

import { isSuggested, suggestQuery } from '../api/cities.ts';
import { countriesQuery, countryName } from '../api/countries.ts';
import { useSite } from '../api/site.ts';
import { fold } from '../text/fold.ts';
import { useText } from '../text/useText.ts';
import { matchCountries } from './matchCountries.ts';
import { useDebounced } from './useDebounced.ts';
import './SearchBox.css';

const pause = 140;
const mostCountries = 4;

interface Suggestion {
  readonly id: string;
  readonly group: 'countries' | 'places' | 'all';
  readonly flag: string;
  readonly name: string;
  readonly detail: string;
  readonly figure: string;
  readonly go: () => void;
}

export function SearchBox({ large = false }: { readonly large?: boolean }) {
  const { t } = useText();
  const [typed, setTyped] = useState('');
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();
  const { suggestions, state, query } = useSuggestions(typed);
  const shown = open && fold(typed) !== '';
  const current = shown ? suggestions[active] : undefined;
  useSlash(input);

  useEffect(() => {
    if (current !== undefined) document.getElementById(listId + current.id)?.scrollIntoView({ block: 'nearest' });
  }, [current, listId]);

  const type = (text: string) => {
    setTyped(text);
    setActive(-1);
    setOpen(true);
  };
  const choose = (suggestion: Suggestion) => {
    setOpen(false);
    setTyped('');
    input.current?.blur();
    suggestion.go();
  };
  const key = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const count = suggestions.length;
    if (event.key === 'Escape') {
      if (shown) setOpen(false);
      else type('');
    } else if (event.key === 'Enter') {
      // Only for what was typed: suggestions of an earlier text are not what is meant.
      const chosen = current ?? (state === 'ready' ? suggestions[0] : undefined);
      if (shown && chosen !== undefined) choose(chosen);
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && count > 0) {
      setOpen(true);
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setActive((from) => (from + step + (from === -1 && step === -1 ? 1 : 0) + count) % count);
    } else return;
    event.preventDefault();
  };

  return (
    <search
      className="search"
      data-large={large || undefined}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setOpen(false);
      }}
    >
      <label className="search-frame">
        <span className="stoa-hidden">{t.search.label}</span>
        <svg viewBox="0 0 24 24" aria-hidden="true" className="search-sign">
          <circle cx="10.5" cy="10.5" r="6" />
          <path d="M15 15l5 5" />
        </svg>
        <input
          ref={input}
          className="search-input"
          type="search"
          role="combobox"
          placeholder={t.search.placeholder}
          title={t.search.hint}
          value={typed}
          autoComplete="off"
          autoCorrect="off"
          spellCheck={false}
          enterKeyHint="search"
          aria-autocomplete="list"
          aria-expanded={shown}
          aria-controls={listId}
          aria-activedescendant={current === undefined ? undefined : listId + current.id}
          onChange={(event) => type(event.target.value)}
          onFocus={() => setOpen(true)}
          onKeyDown={key}
        />
        {shown && state === 'searching' ? (
          <Spinner />
        ) : (
          typed === '' && (
            <kbd className="search-key" aria-hidden="true">
              /
            </kbd>
          )
        )}
      </label>
      <div className="search-list" hidden={!shown}>
        <div
          className="search-options"
          id={listId}
          role="listbox"
          aria-label={t.search.label}
          hidden={suggestions.length === 0}
        >
          {shown && <Groups suggestions={suggestions} active={active} listId={listId} onChoose={choose} />}
        </div>
        {state === 'searching' && suggestions.length === 0 && <p className="search-note">{t.search.searching}</p>}
        <p role="status" className="search-note">
          {shown && state === 'ready' && suggestions.length === 0 && t.search.none({ query })}
          {shown && state === 'failed' && t.search.failed}
        </p>
      </div>
      <div role="status" className="stoa-hidden">
        {shown && state === 'ready' && suggestions.length > 0 && t.search.found({ n: suggestions.length })}
      </div>
    </search>
  );
}

interface GroupsProps {
  readonly suggestions: readonly Suggestion[];
  readonly active: number;
  readonly listId: string;
  readonly onChoose: (suggestion: Suggestion) => void;
}

function Groups({ suggestions, active, listId, onChoose }: GroupsProps) {
  const { t } = useText();
  return (['countries', 'places', 'all'] as const).map((group) => {
    const members = suggestions.filter((each) => each.group === group);
    if (members.length === 0) return null;
    const label = group === 'all' ? t.search.places : t.search[group];
    return (
      <div key={group} role="group" aria-label={label} className="search-group">
        {group !== 'all' && (
          <div className="search-group-name" aria-hidden="true">
            {label}
          </div>
        )}
        {members.map((each) => (
          <div
            key={each.id}
            id={listId + each.id}
            role="option"
            aria-selected={suggestions[active] === each}
            className="search-option"
            // Keeps the focus in the field, so that the list is not closed before the click.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onChoose(each)}
          >
            <span className="flag" aria-hidden="true">
              {each.flag}
            </span>
            <span className="search-name">{each.name}</span>
            <span className="search-detail">{each.detail}</span>
            <span className="search-figure">{each.figure}</span>
          </div>
        ))}
      </div>
    );
  });
}

function useSuggestions(typed: string) {
  const { stoa } = useSite();
  const { t, language, compare, number } = useText();
  const navigate = useNavigate();
  const rested = useDebounced(typed, pause);
  const { data: countries = [] } = useQuery(countriesQuery(stoa, language));
  const places = useQuery(suggestQuery(stoa, rested));
  const byCode = new Map(countries.map((country) => [country._id, country]));
  const query = typed.trim();
  // Until the answer to what is typed is there, this is the last one: of that, what fits the new text too.
  const cities = fold(typed) === '' ? [] : (places.data ?? []).filter((city) => isSuggested(city, typed));

  const suggestions: Suggestion[] = matchCountries(countries, typed, language, compare)
    .slice(0, mostCountries)
    .map((country) => ({
      id: `-${country._id}`,
      group: 'countries',
      flag: country.flag,
      name: countryName(country, language),
      detail: country.capital.join(', '),
      figure: '',
      go: () => void navigate({ to: '/countries/$code', params: { code: country._id } }),
    }));
  for (const city of cities) {
    const country = byCode.get(city.country);
    suggestions.push({
      id: `-${city._id}`,
      group: 'places',
      flag: country?.flag ?? '',
      name: city.name,
      detail: country === undefined ? city.country : countryName(country, language),
      figure: city.population > 0 ? number(city.population) : '',
      go: () => void navigate({ to: '/places/$id', params: { id: city._id } }),
    });
  }
  if (cities.length > 0) {
    suggestions.push({
      id: '-all',
      group: 'all',
      flag: '',
      name: t.search.all({ query }),
      detail: '',
      figure: '',
      go: () => void navigate({ to: '/places', search: { q: query } }),
    });
  }
  const waiting = fold(typed) !== fold(rested) || places.isFetching || places.isPlaceholderData;
  const state: 'searching' | 'failed' | 'ready' = waiting ? 'searching' : places.isError ? 'failed' : 'ready';
  return { suggestions, state, query };
}

/** `/` goes to the search from anywhere but a field. */
function useSlash(input: { readonly current: HTMLInputElement | null }) {
  useEffect(() => {
    const heard = (event: globalThis.KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      const target = event.target as HTMLElement;
      if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', heard);
    return () => removeEventListener('keydown', heard);
  }, [input]);
}
