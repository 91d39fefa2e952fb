import { screen, within } from '@testing-library/react';
import { beforeAll, describe, expect, it } from 'vitest';
import { addressText, addressWith } from '../api/contact.ts';
import { loadLaterTexts } from '../text/later.ts';
import { account as accountOf, broken, ok } from './member.ts';
import { en, expectAccessible, openPage, type Reply } from './page.tsx';
import { SITE } from './views.ts';

const account = accountOf();
const HOME = { id: 'a1', addressLine: 'Lindenallee 1', city: 'Basel', country: 'CH', hint: 'left bell' };
const profile = (contact: object = {}): Reply =>
  ok({ member: { id: 'm1', profile: {}, contact, privacyStatus: 'PRIVATE' } });

beforeAll(
  () =>
    Promise.all([
      import('../my/MyPage.tsx'),
      import('../my/AccountGate.tsx'),
      import('../page/WithLaterTexts.tsx'),
      loadLaterTexts('en'),
    ]),
  30_000,
);

const part = async (name: string) => within(await screen.findByRole('region', { name }));

describe('phones and addresses', () => {
  it('are added where there are none', async () => {
    const added = profile({ phones: ['+41 61 555 01 02'] });
    const { sent, user } = openPage('/account/profile', account, profile(), profile(), added);
    const phones = await part(en.phones);
    expect(phones.getByText(en.noPhones)).toBeTruthy();
    expect(phones.getByText(en.contactHelp({ site: SITE.name }))).toBeTruthy();
    await user.click(phones.getByRole('button', { name: en.addPhone }));
    const field = phones.getByLabelText(en.phoneNumber);
    expect(document.activeElement).toBe(field);
    await expectAccessible();
    await user.click(phones.getByRole('button', { name: en.saveProfile }));
    expect(phones.getByText(en.problem.required)).toBeTruthy();
    expect(sent).toHaveLength(2);
    await user.type(field, ' +41 61 555 01 02 {Enter}');
    expect(await phones.findByText('+41 61 555 01 02')).toBeTruthy();
    expect(document.activeElement?.textContent).toBe(en.phones);
    expect(sent.at(-1)).toMatchObject({
      method: 'PATCH',
      path: `/s/${SITE.id}/members/v1/members/m1`,
      body: { member: { contact: { phones: ['+41 61 555 01 02'] } } },
    });
    await expectAccessible();
  });

  it('change what is stored by now, one at a time', async () => {
    const [other, moved] = [
      { id: 'a2', city: 'Bern' },
      { ...HOME, addressLine: 'Hafenweg 2', country: 'DE' },
    ];
    const { sent, user } = openPage(
      '/account/profile',
      account,
      profile({ addresses: [HOME] }),
      profile({ addresses: [other, HOME] }),
      profile({ addresses: [other, moved] }),
    );
    const addresses = await part(en.addresses);
    expect(addresses.getByText('Switzerland')).toBeTruthy();
    await user.click(addresses.getByRole('button', { name: `${en.editEntry}: Lindenallee 1, Basel, Switzerland` }));
    const line = addresses.getByLabelText(en.addressLine);
    await user.clear(line);
    await user.type(line, 'Hafenweg 2');
    await user.selectOptions(addresses.getByLabelText(en.country), 'Germany');
    await expectAccessible();
    await user.click(addresses.getByRole('button', { name: en.saveProfile }));
    expect(await addresses.findByText('Hafenweg 2')).toBeTruthy();
    expect(addresses.getByText('Bern')).toBeTruthy();
    expect(sent.at(-1)?.body).toEqual({ member: { contact: { addresses: [other, moved] } } });
  });

  it('are removed, and say when they could not be', async () => {
    const { sent, user } = openPage(
      '/account/profile',
      account,
      profile({ phones: ['1', '2'] }),
      'no answer',
      profile({ phones: ['1', '2'] }),
      profile({ phones: ['2'] }),
    );
    const phones = await part(en.phones);
    await user.click(phones.getByRole('button', { name: `${en.remove}: 1` }));
    expect((await phones.findByRole('alert')).textContent).toBe(en.offlineText);
    await user.click(phones.getByRole('button', { name: `${en.remove}: 1` }));
    expect(await phones.findByText(en.factorRemoved)).toBeTruthy();
    expect(sent.at(-1)?.body).toEqual({ member: { contact: { phones: ['2'] } } });
    expect(phones.queryByText('1')).toBeNull();
  });

  it('have a name where nothing of one is known here, and may have two lines alike', async () => {
    openPage(
      '/account/profile',
      account,
      profile({ addresses: [{ id: 'a1' }, { city: 'Genf', subdivision: 'Genf' }] }),
    );
    const addresses = await part(en.addresses);
    expect(addresses.getByRole('button', { name: `${en.editEntry}: ${en.addresses}` })).toBeTruthy();
    expect(addresses.getByRole('button', { name: `${en.remove}: ${en.addresses}` })).toBeTruthy();
    await expectAccessible();
  });

  it('tell what is wrong at the field, and keep what was typed', async () => {
    const { user } = openPage(
      '/account/profile',
      account,
      profile(),
      profile(),
      broken('member.contact.addresses[0].city', 'MAX_LENGTH'),
    );
    const addresses = await part(en.addresses);
    await user.click(addresses.getByRole('button', { name: en.addAddress }));
    await user.click(addresses.getByRole('button', { name: en.saveProfile }));
    expect(addresses.getByText(en.problem.required)).toBeTruthy();
    const city = addresses.getByLabelText(en.city);
    await user.type(city, 'Basel{Enter}');
    expect(await addresses.findByText(en.wrong.tooLong)).toBeTruthy();
    expect([city.getAttribute('aria-invalid'), (city as HTMLInputElement).value]).toEqual(['true', 'Basel']);
    await expectAccessible();
    await user.click(addresses.getByRole('button', { name: en.cancel }));
    expect(document.activeElement?.textContent).toBe(en.addresses);
  });
});

describe('other email addresses', () => {
  const OWN = 'mara@example.org';
  const shown = (...emails: string[]) => profile({ emails });

  it('are added beside that of the account, which is neither shown nor lost', async () => {
    const added = shown(OWN, 'work@example.org');
    const { sent, user } = openPage('/account/profile', accountOf({ email: OWN }), shown(OWN), shown(OWN), added);
    const emails = await part(en.emails);
    expect(emails.getByText(en.noEmails)).toBeTruthy();
    expect(emails.getByText(en.emailsHelp)).toBeTruthy();
    await user.click(emails.getByRole('button', { name: en.addEmail }));
    const field = emails.getByLabelText(en.email);
    await user.type(field, 'nowhere{Enter}');
    expect(emails.getByText(en.problem.email)).toBeTruthy();
    expect(sent).toHaveLength(2);
    await user.clear(field);
    await user.type(field, 'work@example.org{Enter}');
    expect(await emails.findByText('work@example.org')).toBeTruthy();
    expect(sent.at(-1)?.body).toEqual({ member: { contact: { emails: [OWN, 'work@example.org'] } } });
    await expectAccessible();
  });

  it('are removed, one by one', async () => {
    const before = shown(OWN, 'a@example.org', 'b@example.org');
    const after = shown(OWN, 'b@example.org');
    const { sent, user } = openPage('/account/profile', accountOf({ email: OWN }), before, before, after);
    const emails = await part(en.emails);
    await user.click(emails.getByRole('button', { name: `${en.remove}: a@example.org` }));
    expect(await emails.findByText(en.factorRemoved)).toBeTruthy();
    expect(sent.at(-1)?.body).toEqual({ member: { contact: { emails: [OWN, 'b@example.org'] } } });
  });
});

describe('custom fields', () => {
  const of = (fields: Record<string, unknown>) =>
    profile({
      customFields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { name, value }])),
    });

  it('are added, but none in the place of another', async () => {
    const { sent, user } = openPage(
      '/account/profile',
      account,
      of({ Hat: 'green' }),
      of({ Hat: 'green' }),
      of({ Hat: 'green', Shoes: '42' }),
    );
    const fields = await part(en.fields);
    await user.click(fields.getByRole('button', { name: en.addField }));
    await user.click(fields.getByRole('button', { name: en.saveProfile }));
    expect(fields.getAllByText(en.problem.required)).toHaveLength(2);
    const name = fields.getByLabelText(en.factorName);
    await user.type(name, 'Hat');
    await user.type(fields.getByLabelText(en.fieldValue), '42{Enter}');
    expect(fields.getByText(en.wrong.fieldExists)).toBeTruthy();
    expect(sent).toHaveLength(2);
    await expectAccessible();
    await user.clear(name);
    await user.type(name, 'Shoes{Enter}');
    expect(await fields.findByText('Shoes')).toBeTruthy();
    expect(sent.at(-1)?.body).toEqual({
      member: { contact: { customFields: { Shoes: { name: 'Shoes', value: '42' } } } },
    });
  });

  it('are not added in the place of one that was added meanwhile', async () => {
    const both = of({ Hat: 'green', Shoes: '41' });
    const { sent, user } = openPage('/account/profile', account, of({ Hat: 'green' }), both, both);
    const fields = await part(en.fields);
    await user.click(fields.getByRole('button', { name: en.addField }));
    await user.type(fields.getByLabelText(en.factorName), 'Shoes');
    await user.type(fields.getByLabelText(en.fieldValue), '42{Enter}');
    expect(await fields.findByText(en.wrong.fieldExists)).toBeTruthy();
    expect(sent.at(-1)?.body).toEqual({ member: { contact: {} } });
    await user.click(fields.getByRole('button', { name: en.cancel }));
    expect(fields.getByText('41')).toBeTruthy();
  });

  it('are edited where they are text, and removed whatever they are', async () => {
    const sizes = { waist: 80 };
    const { sent, user } = openPage(
      '/account/profile',
      account,
      of({ Hat: 'green', sizes }),
      of({ Hat: 'green', sizes }),
      of({ Hat: 'blue', sizes }),
      of({ Hat: 'blue', sizes }),
      of({ Hat: 'blue' }),
    );
    const fields = await part(en.fields);
    expect(fields.getByText('{"waist":80}')).toBeTruthy();
    const edits = fields.getAllByRole('button').filter((it) => it.textContent === en.editEntry);
    expect(edits.map((it) => it.getAttribute('aria-label'))).toEqual([`${en.editEntry}: Hat, green`]);
    await user.click(fields.getByRole('button', { name: `${en.editEntry}: Hat, green` }));
    const field = fields.getByLabelText('Hat');
    await user.clear(field);
    await user.type(field, 'blue{Enter}');
    expect(await fields.findByText('blue')).toBeTruthy();
    expect(sent[3]?.body).toEqual({ member: { contact: { customFields: { Hat: { name: 'Hat', value: 'blue' } } } } });
    await user.click(fields.getByRole('button', { name: `${en.remove}: sizes, {"waist":80}` }));
    expect(await fields.findByText(en.factorRemoved)).toBeTruthy();
    expect(sent.at(-1)?.body).toEqual({ member: { contact: { customFields: { sizes: null } } } });
    await expectAccessible();
  });
});

describe('an address', () => {
  const typed = { addressLine: '', addressLine2: '', postalCode: '', city: '', subdivision: '', country: '' };

  it('keeps what is no field of the form', () => {
    const next = addressWith(HOME, { ...typed, addressLine: ' Lindenallee 1 ', country: 'CH' });
    expect(next).toEqual({ id: 'a1', addressLine: 'Lindenallee 1', country: 'CH', hint: 'left bell' });
  });

  it('has the street that an application wrote apart, until another is typed', () => {
    const apart = { streetAddress: { name: 'Hafenweg', number: '2' } };
    expect(addressText(apart, 'addressLine')).toBe('Hafenweg 2');
    expect(addressWith(apart, { ...typed, addressLine: 'Hafenweg 2', city: 'Bern' })).toEqual({
      ...apart,
      city: 'Bern',
    });
    expect(addressWith(apart, { ...typed, addressLine: 'Hafenweg 3' })).toEqual({ addressLine: 'Hafenweg 3' });
  });
});
