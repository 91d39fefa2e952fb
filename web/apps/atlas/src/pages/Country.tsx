import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';

import { largestQuery } from '../api/cities.ts';
import { countriesQuery, countryName, countryQuery } from '../api/countries.ts';
import { type Figures as Totals, bySize, figuresQuery, together } from '../api/figures.ts';
import { radiusOfArea } from '../api/geo.ts';
import { useSite } from '../api/site.ts';
import { Facts } from '../parts/Facts.tsx';
import { FiguresState } from '../parts/FiguresState.tsx';
import { Link } from '../parts/Link.tsx';
import { MapFrame } from '../parts/MapFrame.tsx';
import { Page } from '../parts/Page.tsx';
import { PlacesTable } from '../parts/PlacesTable.tsx';
import { isRegion } from '../parts/regions.ts';
import { SizeTable } from '../parts/SizeTable.tsx';
import { useText } from '../text/useText.ts';
import './Country.css';

const route = getRouteApi('/countries/$code');

export function CountryPage() {
  const { code } = route.useParams();
  const search = route.useSearch();
  const { t, language, list, languageName, currencyName, compare } = useText();
  const { stoa } = useSite();
  const { data: country } = useSuspenseQuery(countryQuery(stoa, code));
  const { data: countries } = useSuspenseQuery(countriesQuery(stoa, language));
  const { data: dots = [] } = useQuery(largestQuery(stoa, code, 12));
  if (country === null) return null; // the loader has answered "not found"

  const name = countryName(country, language);
  const neighbours = countries
    .filter(({ _id }) => country.borders.includes(_id))
    .sort((a, b) => compare(countryName(a, language), countryName(b, language)));
  const region = isRegion(country.region) ? t.regions[country.region] : country.region;
  return (
    <Page
      title={name}
      sign={
        <span className="flag" role="img" aria-label={t.country.flag({ country: name })}>
          {country.flag}
        </span>
      }
      lead={
        <p>
          <Link to="/countries" search={{ region: country.region }}>
            {region}
          </Link>
        </p>
      }
    >
      <div className="split">
        <Facts
          facts={[
            [t.country.official, country.officialName],
            [t.country.capital({ n: country.capital.length }), country.capital.join(', ')],
            [t.country.area, t.country.km2({ n: country.area })],
            [
              t.country.languages({ n: country.languages.length }),
              list(
                country.languages.map((english, index) => languageName(country.languageCodes[index] ?? '', english)),
              ),
            ],
            [
              t.country.currencies({ n: country.currencies.length }),
              list(country.currencies.map((currency) => `${currencyName(currency)} (${currency})`)),
            ],
            [t.country.calling, country.callingCode !== undefined && <bdi dir="ltr">{country.callingCode}</bdi>],
            [t.country.domain, country.domains.length > 0 && <bdi dir="ltr">{country.domains.join(' ')}</bdi>],
            [
              t.country.borders,
              neighbours.length === 0 ? (
                t.country.island
              ) : (
                <ul className="borders">
                  {neighbours.map((each) => (
                    <li key={each._id}>
                      <Link to="/countries/$code" params={{ code: each._id }} variant="plain" className="border-link">
                        <span className="flag" aria-hidden="true">
                          {each.flag}
                        </span>
                        {countryName(each, language)}
                      </Link>
                    </li>
                  ))}
                </ul>
              ),
            ],
          ]}
        />
        <MapFrame
          label={t.country.map({ country: name })}
          shape="region"
          center={country}
          radius={Math.min(60, Math.max(1.5, radiusOfArea(country.area) * 1.9))}
          country={country._id}
          dots={dots.map((city) => ({ ...city, id: city._id, main: city.featureCode === 'PPLC' }))}
        />
      </div>
      <Figures code={code} />
      <section aria-labelledby="places" className="country-places">
        <h2 id="places">{t.country.places}</h2>
        <PlacesTable key={code} search={search} country={country} countries={countries} />
      </section>
    </Page>
  );
}

/** The places of the country in figures. */
function Figures({ code }: { readonly code: string }) {
  const { t } = useText();
  const { stoa } = useSite();
  const { data, error, refetch } = useQuery(figuresQuery(stoa, code));
  return (
    <section aria-labelledby="figures" className="figures">
      <h2 id="figures">{t.figures.title}</h2>
      <FiguresState data={data} error={error} isEmpty={(groups) => groups.length === 0} onRetry={() => void refetch()}>
        {(groups) => (
          <>
            <div className="figures-columns">
              <FigureFacts code={code} {...together(groups)} />
              <SizeTable sizes={bySize(groups)} />
            </div>
            <p className="quiet figures-note">{t.figures.note}</p>
          </>
        )}
      </FiguresState>
    </section>
  );
}

function FigureFacts({ code, places, people }: Totals & { readonly code: string }) {
  const { t, number, percent } = useText();
  const { stoa } = useSite();
  const { data: cities = [] } = useQuery(largestQuery(stoa, code, 12));
  const largest = cities.find(({ featureCode, population }) => featureCode !== 'PPLX' && population > 0);
  return (
    <Facts
      facts={[
        [t.figures.places, number(places)],
        [t.figures.people, people > 0 && number(people)],
        [
          t.figures.largest,
          largest !== undefined && (
            <>
              <Link to="/places/$id" params={{ id: largest._id }} variant="name">
                {largest.name}
              </Link>{' '}
              <span className="figures-beside quiet">
                {t.figures.ofPeople({ share: percent(largest.population / people) })}
              </span>
            </>
          ),
        ],
        [t.figures.average, people > 0 && number(Math.round(people / places))],
      ]}
    />
  );
}
