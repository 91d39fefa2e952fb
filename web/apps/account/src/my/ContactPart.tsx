import { useId, useMemo, useState, type ReactNode } from 'react';
import { Button } from '@stoa/ui/Button';
import { Form, FormActions } from '@stoa/ui/Form';
import { TextField } from '@stoa/ui/TextField';
import {
  ADDRESS_FIELDS,
  addressText,
  addressWith,
  type Address,
  type AddressField,
  type Contact,
} from '../api/contact.ts';
import { changeContact, type Ask, type MemberAccount } from '../api/member.ts';
import type { Answer, Failure } from '../api/request.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { countriesIn, countryName } from './countries.ts';
import { EntryList } from './EntryList.tsx';
import { Note } from './Frame.tsx';
import { wrongText } from './problems.ts';

/** What the server takes at most. */
const LONGEST = { phone: 100, address: 1_000 };

export interface ContactPartProps {
  account: MemberAccount;
  ask: Ask;
  language: string;
  contact: Contact;
  onSaved: (contact: Contact) => void;
}

/** Phones and postal addresses. */
export function ContactPart({ account, ask, language, contact, onSaved }: ContactPartProps) {
  const text = useAllTexts();
  /** Changes what is stored by now, which another tab may have changed. */
  const change = async (make: (now: Contact) => Partial<Contact>) => {
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
          <PhoneForm
            phone={phone ?? ''}
            save={(next) =>
              change((now) => ({ phones: [...new Set(replaced(now.phones, (it) => it === phone, next))] }))
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
    </>
  );
}

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

interface EntryFormProps<Value> {
  save: (value: Value) => Promise<Answer<unknown>>;
  onClose: (isSaved: boolean) => void;
}

/** Sends a form, and tells what is wrong by the names of fields, or as a whole. */
function useSaving<Value>({ save, onClose }: EntryFormProps<Value>) {
  const text = useAllTexts();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const send = (value: Value) => {
    if (isSending) return;
    setIsSending(true);
    void save(value).then((answer) => {
      setIsSending(false);
      if ('value' in answer) onClose(true);
      else setFailure(answer.failure);
    });
  };
  const at = (isField: (name: string) => boolean) => {
    const found = failure?.problems.filter((it) => it.field !== null && isField(it.field)) ?? [];
    return found.map((it) => wrongText(text, it.code, it.message)).join(' ') || undefined;
  };
  return { failure, isSending, send, at };
}

function EntryForm(props: {
  labelledBy: string;
  failure: Failure | null;
  isSending: boolean;
  onSubmit: () => void;
  onClose: (isSaved: boolean) => void;
  children: ReactNode;
}) {
  const { labelledBy, failure, isSending, onSubmit, onClose, children } = props;
  const text = useAllTexts();
  return (
    <Form labelledBy={labelledBy} onSubmit={onSubmit}>
      <Note failure={failure} done={null} />
      {children}
      <FormActions>
        <Button type="submit" variant="primary" pending={isSending}>
          {text.saveProfile}
        </Button>
      </FormActions>
      <Button
        variant="link"
        onPress={() => {
          onClose(false);
        }}
      >
        {text.cancel}
      </Button>
    </Form>
  );
}

function PhoneForm({ phone, save, onClose }: EntryFormProps<string> & { phone: string }) {
  const text = useAllTexts();
  const [typed, setTyped] = useState(phone);
  const [isMissing, setIsMissing] = useState(false);
  const { failure, isSending, send, at } = useSaving({ save, onClose });
  // One of a list: `phones[2]`.
  const wrong = at((it) => it.startsWith('phones'));
  return (
    <EntryForm
      labelledBy="phones"
      failure={wrong === undefined ? failure : null}
      isSending={isSending}
      onSubmit={() => {
        if (typed.trim() === '') setIsMissing(true);
        else send(typed.trim());
      }}
      onClose={onClose}
    >
      <TextField
        label={text.phoneNumber}
        name="phone"
        type="tel"
        inputMode="tel"
        autoComplete="tel"
        maxLength={LONGEST.phone}
        ltr
        autoFocus
        value={typed}
        onChange={(value) => {
          setTyped(value);
          setIsMissing(false);
        }}
        error={isMissing ? text.problem.required : wrong}
      />
    </EntryForm>
  );
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
