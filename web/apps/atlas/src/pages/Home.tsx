import { Cell, ColumnHead, Colonnade, LoadingState, Table } from '@stoa/ui';
import { useQuery } from '@tanstack/react-query';

import { countsQuery, largestQuery } from '../api/cities.ts';
import { type CountryEntry, countriesQuery, countryName } from '../api/countries.ts';
import { type RegionFigures, byRegion, bySize, figuresQuery, together } from '../api/figures.ts';
import { useSite } from '../api/site.ts';
import { FailureState } from '../parts/Failure.tsx';
import { FiguresState } from '../parts/FiguresState.tsx';
import { Link } from '../parts/Link.tsx';
import { MapFrame } from '../parts/MapFrame.tsx';
import { DocumentTitle, Heading } from '../parts/Page.tsx';
import { isRegion, regionNames } from '../parts/regions.ts';
import { SearchBox } from '../parts/SearchBox.tsx';
import { SizeTable } from '../parts/SizeTable.tsx';
import { useText } from '../text/useText.ts';
import './Home.css';

const onGlobe = 250;
const inTable = 10;

export function Home() {
  const { t } = useText();
  const { stoa, settings } = useSite();
  const { data: counts } = useQuery(countsQuery(stoa));
  const { data: dots = [] } = useQuery(largestQuery(stoa, null, onGlobe));
  return (
    <div className="home">
      <DocumentTitle title={settings.name} />
      <section className="home-hero">
        <div className="home-words">
          <Heading className="home-title">{t.home.title}</Heading>
          <p className="home-lead" data-waiting={counts === undefined || undefined}>
            {t.home.lead({ places: counts?.places ?? 0, countries: counts?.countries ?? 0 })}
          </p>
          <SearchBox large />
        </div>
        <div className="home-globe">
          <MapFrame
            label={t.home.globe}
            shape="globe"
            center={centerOfDay()}
            dots={dots.map(({ _id, name, population, latitude, longitude }) => ({
              id: _id,
              name,
              population,
              latitude,
              longitude,
            }))}
          />
        </div>
      </section>
      <Colonnade />
      <Regions />
      <div className="home-columns">
        <Largest />
        <div className="home-side">
          <Sizes />
          <section className="home-journal">
            <h2>{t.home.journalTitle}</h2>
            <p className="quiet">{t.home.journalText}</p>
            <Link to="/journal" variant="button">
              {t.home.journalOpen}
            </Link>
          </section>
        </div>
      </div>
    </div>
  );
}

/** The globe shows the visitor's own part of the world: 15 degrees an hour. */
function centerOfDay() {
  return { latitude: 24, longitude: -new Date(Date.UTC(2024, 0, 1)).getTimezoneOffset() / 4 + 8 };
}

function Largest() {
  const { t, number, language } = useText();
  const { stoa } = useSite();
  const { data: cities, error, refetch } = useQuery(largestQuery(stoa, null, onGlobe));
  const { data: countries = [] } = useQuery(countriesQuery(stoa, language));
  const byCode = new Map(countries.map((country) => [country._id, country]));
  return (
    <section className="home-largest" aria-labelledby="largest">
      <h2 id="largest">{t.home.largest}</h2>
      {error !== null ? (
        <FailureState error={error} onRetry={() => void refetch()} />
      ) : cities === undefined ? (
        <LoadingState label={t.states.loading} />
      ) : (
        <Table caption={t.home.largest}>
          <thead>
            <tr>
              <ColumnHead>{t.places.name}</ColumnHead>
              <ColumnHead>{t.places.country}</ColumnHead>
              <ColumnHead numeric>{t.places.population}</ColumnHead>
            </tr>
          </thead>
          <tbody>
            {cities.slice(0, inTable).map((city) => (
              <tr key={city._id}>
                <th scope="row">
                  <Link to="/places/$id" params={{ id: city._id }} variant="name">
                    {city.name}
                  </Link>
                </th>
                <Cell>
                  <CountryLink country={byCode.get(city.country)} code={city.country} />
                </Cell>
                <Cell numeric>{number(city.population)}</Cell>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      <p>
        <Link to="/places">{t.home.allLargest}</Link>
      </p>
    </section>
  );
}

function CountryLink({ country, code }: { readonly country: CountryEntry | undefined; readonly code: string }) {
  const { language } = useText();
  if (country === undefined) return code;
  return (
    <Link to="/countries/$code" params={{ code }} variant="name">
      <span className="flag" aria-hidden="true">
        {country.flag}
      </span>
      {countryName(country, language)}
    </Link>
  );
}

/** The regions of the world in figures, each of which leads to its countries. */
function Regions() {
  const { t, language } = useText();
  const { stoa } = useSite();
  const figures = useQuery(figuresQuery(stoa, null));
  const { data: largest = [] } = useQuery(largestQuery(stoa, null, onGlobe));
  const countries = useQuery(countriesQuery(stoa, language));
  const data =
    figures.data === undefined || countries.data === undefined
      ? undefined
      : byRegion(regionNames, countries.data, figures.data, largest);
  return (
    <section aria-labelledby="regions" className="home-regions">
      <h2 id="regions">{t.home.regions}</h2>
      <FiguresState
        data={data}
        error={figures.error ?? countries.error}
        isEmpty={(regions) => together(regions).places === 0}
        onRetry={() => void Promise.all([figures.refetch(), countries.refetch()])}
      >
        {(regions) => <RegionTable regions={regions} />}
      </FiguresState>
      <p className="quiet figures-note">{t.figures.note}</p>
    </section>
  );
}

function RegionTable({ regions }: { readonly regions: readonly RegionFigures[] }) {
  const { t, number } = useText();
  const world = together(regions);
  return (
    <div className="figures-table">
      <Table caption={t.home.regions}>
        <thead>
          <tr>
            <ColumnHead>{t.places.region}</ColumnHead>
            <ColumnHead numeric className="home-countries">
              {t.figures.countries}
            </ColumnHead>
            <ColumnHead numeric>{t.figures.places}</ColumnHead>
            <ColumnHead numeric>{t.figures.people}</ColumnHead>
            <ColumnHead className="home-region-largest">{t.figures.largest}</ColumnHead>
          </tr>
        </thead>
        <tbody>
          {regions.map(({ region, countries, places, people, largest }) => (
            <tr key={region}>
              <th scope="row">
                <Link to="/countries" search={{ region }} variant="name">
                  {isRegion(region) ? t.regions[region] : region}
                </Link>{' '}
                {/* Stand in for the columns where these have no room. */}
                <span className="home-below quiet">
                  {t.figures.countries}: {number(countries)}
                </span>{' '}
                {largest !== null && (
                  <span className="home-below quiet">
                    {t.figures.largest}:{' '}
                    <Link to="/places/$id" params={{ id: largest._id }} variant="name">
                      {largest.name}
                    </Link>
                  </span>
                )}
              </th>
              <Cell numeric className="home-countries">
                {number(countries)}
              </Cell>
              <Cell numeric>{number(places)}</Cell>
              <Cell numeric>{number(people)}</Cell>
              <Cell className="home-region-largest">
                {largest !== null && (
                  <Link to="/places/$id" params={{ id: largest._id }} variant="name">
                    {largest.name}
                  </Link>
                )}
              </Cell>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{t.figures.world}</th>
            <Cell numeric className="home-countries">
              {number(regions.reduce((sum, { countries }) => sum + countries, 0))}
            </Cell>
            <Cell numeric>{number(world.places)}</Cell>
            <Cell numeric>{number(world.people)}</Cell>
            <Cell className="home-region-largest" />
          </tr>
        </tfoot>
      </Table>
    </div>
  );
}

function Sizes() {
  const { t } = useText();
  const { stoa } = useSite();
  const { data, error, refetch } = useQuery(figuresQuery(stoa, null));
  return (
    <section aria-labelledby="sizes" className="home-sizes">
      <h2 id="sizes">{t.figures.sizes}</h2>
      <FiguresState data={data} error={error} isEmpty={(groups) => groups.length === 0} onRetry={() => void refetch()}>
        {(groups) => <SizeTable sizes={bySize(groups)} />}
      </FiguresState>
    </section>
  );
}
