/** How many places of each size there are, and how many people live in them. */
import { Cell, ColumnHead, Table } from '@stoa/ui';

import { type SizeFigures, together } from '../api/figures.ts';
import { useText } from '../text/useText.ts';
import './Figures.css';

export function SizeTable({ sizes }: { readonly sizes: readonly SizeFigures[] }) {
  const { t, number, roughly } = useText();
  const all = together(sizes);
  const size = (people: number) => (people < 1_000_000 ? number(people) : roughly(people));
  return (
    <div className="figures-table">
      <Table caption={t.figures.sizes}>
        <thead>
          <tr>
            <ColumnHead>{t.figures.size}</ColumnHead>
            <ColumnHead numeric>{t.figures.places}</ColumnHead>
            <ColumnHead numeric>{t.figures.people}</ColumnHead>
            <ColumnHead className="figures-share">{t.figures.share}</ColumnHead>
          </tr>
        </thead>
        <tbody>
          {sizes.map(({ from, to, places, people }) => (
            <tr key={from}>
              <th scope="row">
                {from === 0
                  ? t.figures.below({ n: size(to ?? 0) })
                  : to === null
                    ? t.figures.atLeast({ n: size(from) })
                    : t.figures.between({ from: size(from), to: size(to) })}
              </th>
              <Cell numeric>{number(places)}</Cell>
              <Cell numeric title={number(people)}>
                {roughly(people)}
              </Cell>
              <Cell className="figures-share">
                <Share part={people} whole={all.people} />
              </Cell>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{t.figures.total}</th>
            <Cell numeric>{number(all.places)}</Cell>
            <Cell numeric title={number(all.people)}>
              {roughly(all.people)}
            </Cell>
            <Cell className="figures-share" />
          </tr>
        </tfoot>
      </Table>
    </div>
  );
}

/** A part of a whole as a bar, with its percentage. */
export function Share({ part, whole }: { readonly part: number; readonly whole: number }) {
  const { percent } = useText();
  const share = whole === 0 ? 0 : part / whole;
  return (
    <span className="share">
      <span className="share-bar" aria-hidden="true">
        <span style={{ inlineSize: `${share * 100}%` }} />
      </span>
      <span className="share-text">{percent(share)}</span>
    </span>
  );
}
