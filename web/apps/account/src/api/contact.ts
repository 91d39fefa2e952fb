/** A member's contact, as the members API has it. */
import { isObject } from './request.ts';

/** What a person types of an address. `country` is a code of two letters. */
export const ADDRESS_FIELDS = ['addressLine', 'addressLine2', 'postalCode', 'city', 'subdivision', 'country'] as const;

export type AddressField = (typeof ADDRESS_FIELDS)[number];

/** An address with whatever else is known of it. */
export type Address = Readonly<Record<string, unknown>>;

/** What applications, or the member, keep under a name. The value is any JSON. */
export interface CustomField {
  name: string;
  value: unknown;
}

export interface Contact {
  phones: readonly string[];
  /** That of the account among them, unless it was taken out. */
  emails: readonly string[];
  addresses: readonly Address[];
  customFields: readonly CustomField[];
}

/** Lists are replaced whole. Of the fields those that are named are, and null removes one. */
export interface ContactChange extends Partial<Omit<Contact, 'customFields'>> {
  customFields?: Readonly<Record<string, CustomField | null>>;
}

export const contactOf = (contact: Record<string, unknown>): Contact => ({
  phones: listOf(contact['phones']).filter(isText),
  emails: listOf(contact['emails']).filter(isText),
  addresses: listOf(contact['addresses']).filter(isObject),
  customFields: Object.entries(isObject(contact['customFields']) ? contact['customFields'] : {}).map(([name, it]) => ({
    name,
    value: isObject(it) ? it['value'] : it,
  })),
});

/** A field as it is shown. Some applications write the street apart from the line. */
export function addressText(address: Address, field: AddressField): string {
  const value = address[field];
  if (isText(value)) return value;
  const street = address['streetAddress'];
  if (field !== 'addressLine' || !isObject(street)) return '';
  const line = street['formattedAddressLine'];
  return isText(line) ? line : [street['name'], street['number']].filter(isText).join(' ');
}

/** The address with what was typed. What isn't a field stays, but a street that is another by now. */
export function addressWith(address: Address, typed: Readonly<Record<AddressField, string>>): Address {
  const isNew = (field: AddressField) => typed[field].trim() !== addressText(address, field);
  const gone = new Set<string>(ADDRESS_FIELDS.filter((it) => isNew(it) && typed[it].trim() === ''));
  if (isNew('addressLine')) gone.add('streetAddress');
  const changed = ADDRESS_FIELDS.filter(isNew).map((it) => [it, typed[it].trim()] as const);
  const all = Object.entries({ ...address, ...Object.fromEntries(changed) });
  return Object.fromEntries(all.filter(([name]) => !gone.has(name)));
}

const isText = (value: unknown): value is string => typeof value === 'string';

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
