import { Button, Callout, Link as UiLink } from '@stoa/ui';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';

import { type City, cityQuery, nearbyQuery } from '../api/cities.ts';
import { countriesQuery, countryName } from '../api/countries.ts';
import { journalQuery } from '../api/journal.ts';
import { signIn, useLoggedIn } from '../api/member.ts';
import { useSite } from '../api/site.ts';
import { useLeaving } from '../parts/Account.tsx';
import { Facts } from '../parts/Facts.tsx';
import { kindName } from '../parts/kind.ts';
import { Link } from '../parts/Link.tsx';
import { MapFrame } from '../parts/MapFrame.tsx';
import { Page } from '../parts/Page.tsx';
import { VisitDialog } from '../parts/VisitDialog.tsx';
import { useText } from '../text/useText.ts';
import './City.css';

const route = getRouteApi('/places/$id');
const namesShown = 6;

export function CityPage() {
  const { id } = route.useParams();
  const { visit } = route.useSearch();
  const navigate = route.useNavigate();
  const { t, language, number, position } = useText();
  const { stoa } = useSite();
  const loggedIn = useLoggedIn(stoa);
  const { data: city } = useSuspenseQuery(cityQuery(stoa, id));
  const { data: countries } = useSuspenseQuery(countriesQuery(stoa, language));
  const nearby = useQuery({ ...nearbyQuery(stoa, city ?? nowhere), enabled: city !== null });
  if (city === null) return null; // the loader has answered "not found"

  const country = countries.find(({ _id }) => _id === city.country);
  const close = () => void navigate({ search: {}, replace: true, resetScroll: false });
  return (
    <Page
      title={city.name}
      lead={
        <p>
          {country !== undefined && (
            <Link to="/countries/$code" params={{ code: country._id }}>
              <span className="flag" aria-hidden="true">
                {country.flag}
              </span>
              {countryName(country, language)}
            </Link>
          )}
        </p>
      }
      actions={<AddVisit id={id} loggedIn={loggedIn} />}
    >
      {loggedIn && <Visited city={city} />}
      <div className="split">
        <div className="city-facts">
          <Facts
            facts={[
              [
                t.city.population,
                city.population > 0 ? number(city.population) : <span className="quiet">{t.places.unknown}</span>,
              ],
              [t.places.region, city.region],
              [t.city.kind, kindName(city.featureCode, t)],
              [t.city.position, position(city.latitude, city.longitude)],
              [t.city.names, city.names !== undefined && <OtherNames names={city.names} />],
            ]}
          />
          {nearby.data !== undefined && nearby.data.length > 0 && (
            <section aria-labelledby="nearby" className="city-nearby">
              <h2 id="nearby">{t.city.nearby}</h2>
              <ul>
                {nearby.data.map(({ city: other, km }) => (
                  <li key={other._id}>
                    <Link to="/places/$id" params={{ id: other._id }} variant="name">
                      {other.name}
                    </Link>
                    <span className="quiet">{t.city.nearbyDistance({ n: Math.round(km) })}</span>
                    <span className="quiet city-nearby-population">
                      {other.population > 0 ? number(other.population) : ''}
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
        <MapFrame
          label={t.city.map({ place: city.name })}
          shape="region"
          center={city}
          radius={5}
          country={city.country}
          dots={[{ ...city, id: city._id, main: true }]}
        />
      </div>
      <p className="quiet city-source">
        <UiLink href={`https://www.geonames.org/${city._id}`}>{t.city.source({ id: city._id })}</UiLink>
      </p>
      {visit === 'new' && loggedIn && <VisitDialog city={city} onClose={close} />}
    </Page>
  );
}

/** The first few, and all of them for those who ask. */
function OtherNames({ names }: { readonly names: readonly string[] }) {
  const { t } = useText();
  const each = (some: readonly string[]) =>
    some.map((name) => (
      <li key={name}>
        <bdi>{name}</bdi>
      </li>
    ));
  return (
    <>
      <ul className="city-names">{each(names.slice(0, namesShown))}</ul>
      {names.length > namesShown && (
        <details className="city-more-names">
          <summary>{t.city.moreNames({ n: names.length - namesShown })}</summary>
          <ul className="city-names">{each(names.slice(namesShown))}</ul>
        </details>
      )}
    </>
  );
}

/** Stands in while there is no place, so that the query has one to be disabled with. */
const nowhere = { _id: '', latitude: 0, longitude: 0 } as City;

function AddVisit({ id, loggedIn }: { readonly id: string; readonly loggedIn: boolean }) {
  const { t } = useText();
  const { stoa } = useSite();
  const navigate = route.useNavigate();
  const leave = useLeaving();
  if (loggedIn) {
    return (
      <Button variant="primary" onPress={() => void navigate({ search: { visit: 'new' }, resetScroll: false })}>
        {t.city.add}
      </Button>
    );
  }
  return (
    <>
      <Button
        variant="primary"
        pending={leave.pending}
        onPress={() => leave.by(() => signIn(stoa, `/places/${encodeURIComponent(id)}?visit=new`))}
      >
        {t.city.addSignIn}
      </Button>
      {leave.failure !== null && <p className="quiet">{leave.failure}</p>}
    </>
  );
}

/** How often the member wrote about the place. */
function Visited({ city }: { readonly city: City }) {
  const { t } = useText();
  const { stoa } = useSite();
  const { data: visits = [] } = useQuery(journalQuery(stoa));
  const count = visits.filter((visit) => visit.city === city._id).length;
  if (count === 0) return null;
  return (
    <Callout tone="good">
      {t.city.visited({ n: count, place: city.name })} <Link to="/journal">{t.city.seeJournal}</Link>
    </Callout>
  );
}
