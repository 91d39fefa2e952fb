import { Cell, ColumnHead, Colonnade, LoadingState, Table } from '@stoa/ui';
import { useQuery } from '@tanstack/react-query';

import { countsQuery, largestQuery } from '../api/cities.ts';
import { type CountryEntry, countriesQuery, countryName } from '../api/countries.ts';
import { useSite } from '../api/site.ts';
import { FailureState } from '../parts/Failure.tsx';
import { Link } from '../parts/Link.tsx';
import { MapFrame } from '../parts/MapFrame.tsx';
import { DocumentTitle, Heading } from '../parts/Page.tsx';
import { regionNames, regionsOf } from '../parts/regions.ts';
import { SearchBox } from '../parts/SearchBox.tsx';
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
      <div className="home-columns">
        <Largest />
        <div className="home-side">
          <Regions />
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

function Regions() {
  const { t, language } = useText();
  const { stoa } = useSite();
  const { data: countries = [] } = useQuery(countriesQuery(stoa, language));
  const counts = regionsOf(countries);
  return (
    <section aria-labelledby="regions" className="home-regions">
      <h2 id="regions">{t.home.regions}</h2>
      <ul className="region-list">
        {regionNames.map((region) => (
          <li key={region}>
            <Link to="/countries" search={{ region }} variant="plain" className="region-card">
              <span className="region-name">{t.regions[region]}</span>
              <span className="quiet">{t.home.regionCount({ n: counts.get(region) ?? 0 })}</span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
