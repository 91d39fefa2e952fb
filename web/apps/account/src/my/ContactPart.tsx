import { useId, useMemo, useState } from 'react';
import { TextField } from '@stoa/ui/TextField';
import {
  ADDRESS_FIELDS,
  addressText,
  addressWith,
  type Address,
  type AddressField,
  type Contact,
  type ContactChange,
} from '../api/contact.ts';
import { changeContact, type Ask, type MemberAccount } from '../api/member.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { countriesIn, countryName } from './countries.ts';
import { EntryForm, TextEntryForm, useSaving, type EntryFormProps } from './EntryForm.tsx';
import { EntryList } from './EntryList.tsx';
import { FieldList } from './FieldList.tsx';

/** What the server takes at most. */
const LONGEST = { phone: 100, email: 254, address: 1_000 };

export interface ContactPartProps {
  account: MemberAccount;
  ask: Ask;
  language: string;
  contact: Contact;
  onSaved: (contact: Contact) => void;
}

/** Phones, other e-mail addresses, postal addresses, and what else applications know of the member. */
export function ContactPart({ account, ask, language, contact, onSaved }: ContactPartProps) {
  const text = useAllTexts();
  /** Changes what is stored by now, which another tab may have changed. */
  const change = async (make: (now: Contact) => ContactChange) => {
    const answer = await changeContact(ask, account.memberId, make);
    if ('value' in answer) onSaved(answer.value);
    return answer;
  };
  return (
    <>
      <EntryList
        id="phones"
        title={text.phones}
        help={text.contactHelp({ site: account.site.name })}
        none={text.noPhones}
        add={text.addPhone}
        entries={contact.phones}
        lines={(it) => [it]}
        ltr
        remove={(phone) => change((now) => ({ phones: now.phones.filter((it) => it !== phone) }))}
        form={(phone, close) => (
          <TextEntryForm
            list="phones"
            entry={phone ?? ''}
            isField={isOneOf('phones')}
            field={{
              label: text.phoneNumber,
              name: 'phone',
              type: 'tel',
              inputMode: 'tel',
              autoComplete: 'tel',
              maxLength: LONGEST.phone,
              ltr: true,
            }}
            save={(next) =>
              change((now) => ({ phones: [...new Set(replaced(now.phones, (it) => it === phone, next))] }))
            }
            onClose={close}
          />
        )}
      />
      <EntryList
        id="emails"
        title={text.emails}
        help={text.emailsHelp}
        none={text.noEmails}
        add={text.addEmail}
        entries={contact.emails.filter((it) => it.toLowerCase() !== account.email.toLowerCase())}
        lines={(it) => [it]}
        ltr
        remove={(email) => change((now) => ({ emails: now.emails.filter((it) => it !== email) }))}
        form={(email, close) => (
          <TextEntryForm
            list="emails"
            entry={email ?? ''}
            isField={isOneOf('emails')}
            check={(it) => (isEmail(it) ? undefined : text.problem.email)}
            field={{
              label: text.email,
              name: 'email',
              type: 'email',
              inputMode: 'email',
              autoComplete: 'email',
              maxLength: LONGEST.email,
              ltr: true,
            }}
            save={(next) =>
              change((now) => ({ emails: [...new Set(replaced(now.emails, (it) => it === email, next))] }))
            }
            onClose={close}
          />
        )}
      />
      <EntryList
        id="addresses"
        title={text.addresses}
        none={text.noAddresses}
        add={text.addAddress}
        entries={contact.addresses}
        lines={(it) => linesOf(it, language)}
        remove={(address) => change((now) => ({ addresses: now.addresses.filter((it) => !isSame(it, address)) }))}
        form={(address, close) => (
          <AddressForm
            address={address ?? {}}
            language={language}
            save={(next) =>
              change((now) => ({
                addresses: replaced(now.addresses, (it) => address !== null && isSame(it, address), next),
              }))
            }
            onClose={close}
          />
        )}
      />
      <FieldList fields={contact.customFields} change={change} />
    </>
  );
}

/** Names an element of a list: `phones[2]`. */
const isOneOf = (list: string) => (name: string) => name.startsWith(list);

/** The browser's own check is off, as messages are the page's. */
const isEmail = (text: string) => /^[^\s@]+@[^\s@]+$/.test(text);

/** The list with an entry in the place of another, or at its end where that is gone. */
function replaced<Entry>(list: readonly Entry[], isOld: (entry: Entry) => boolean, next: Entry): Entry[] {
  const at = list.findIndex(isOld);
  return at < 0 ? [...list, next] : list.with(at, next);
}

/** Those that an application wrote may have no id. */
const isSame = (one: Address, other: Address): boolean =>
  one['id'] === other['id'] && (one['id'] !== undefined || JSON.stringify(one) === JSON.stringify(other));

function linesOf(address: Address, language: string): string[] {
  const of = (field: AddressField) => addressText(address, field);
  const place = [of('postalCode'), of('city')].filter(Boolean).join(' ');
  const country = of('country') && countryName(of('country'), language);
  return [of('addressLine'), of('addressLine2'), place, of('subdivision'), country].filter(Boolean);
}

const COMPLETE: Record<AddressField, string> = {
  addressLine: 'address-line1',
  addressLine2: 'address-line2',
  postalCode: 'postal-code',
  city: 'address-level2',
  subdivision: 'address-level1',
  country: 'country',
};

interface AddressFormProps extends EntryFormProps<Address> {
  address: Address;
  language: string;
}

function AddressForm({ address, language, save, onClose }: AddressFormProps) {
  const text = useAllTexts();
  const [typed, setTyped] = useState(
    () =>
      Object.fromEntries(ADDRESS_FIELDS.map((it) => [it, addressText(address, it)])) as Record<AddressField, string>,
  );
  const [isMissing, setIsMissing] = useState(false);
  const { failure, isSending, send, at } = useSaving({ save, onClose });
  const wrongAt = (field: AddressField) => at((it) => it === field);
  const isAtFields = ADDRESS_FIELDS.some((it) => wrongAt(it) !== undefined);
  const change = (field: AddressField, value: string) => {
    setTyped({ ...typed, [field]: value });
    setIsMissing(false);
  };
  return (
    <EntryForm
      labelledBy="addresses"
      failure={isAtFields ? null : failure}
      isSending={isSending}
      onSubmit={() => {
        if (ADDRESS_FIELDS.every((it) => typed[it].trim() === '')) setIsMissing(true);
        else send(addressWith(address, typed));
      }}
      onClose={onClose}
    >
      {ADDRESS_FIELDS.map((field) =>
        field === 'country' ? (
          <CountryField
            key={field}
            language={language}
            value={typed.country}
            onChange={(value) => {
              change(field, value);
            }}
            error={wrongAt(field)}
          />
        ) : (
          <TextField
            key={field}
            label={text[field]}
            name={field}
            autoComplete={COMPLETE[field]}
            maxLength={LONGEST.address}
            autoFocus={field === 'addressLine'}
            value={typed[field]}
            onChange={(value) => {
              change(field, value);
            }}
            error={field === 'addressLine' && isMissing ? text.problem.required : wrongAt(field)}
          />
        ),
      )}
    </EntryForm>
  );
}

interface CountryFieldProps {
  language: string;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** The browser's own list: a letter leads to a country, on telephones as well. */
function CountryField({ language, value, onChange, error }: CountryFieldProps) {
  const text = useAllTexts();
  const [field, problem] = [useId(), useId()];
  const countries = useMemo(() => countriesIn(language), [language]);
  const isKnown = value === '' || countries.some((it) => it.code === value);
  return (
    <div className="stoa-field">
      <label htmlFor={field} className="stoa-field-label">
        {text.country}
      </label>
      <div className="stoa-input-frame">
        <select
          id={field}
          name="country"
          className="stoa-input"
          autoComplete={COMPLETE.country}
          value={value}
          onChange={(event) => {
            onChange(event.target.value);
          }}
          {...(error === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': problem })}
        >
          <option value="">{text.noCountry}</option>
          {!isKnown && <option value={value}>{value}</option>}
          {countries.map(({ code, name }) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
        </select>
      </div>
      {error !== undefined && <p id={problem}>{error}</p>}
    </div>
  );
}
