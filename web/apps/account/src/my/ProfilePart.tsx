import { useState } from 'react';
import { Button } from '@stoa/ui/Button';
import { Checkbox } from '@stoa/ui/Checkbox';
import { Form, FormActions } from '@stoa/ui/Form';
import { TextField } from '@stoa/ui/TextField';
import { readProfile, saveProfile, type Ask, type MemberAccount, type Profile } from '../api/member.ts';
import type { Failure } from '../api/request.ts';
import { isWebUrl } from '../flow/leave.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { ContactPart } from './ContactPart.tsx';
import { wrongText } from './problems.ts';
import { Note } from './Frame.tsx';
import { Part } from './Part.tsx';
import { useLoaded } from './useLoaded.ts';

/** What the member shows of themselves. */
export function ProfilePart({ account, ask, language }: { account: MemberAccount; ask: Ask; language: string }) {
  const loaded = useLoaded(ask, readProfile);
  return (
    <Part loaded={loaded}>
      {(profile) => (
        <>
          <ProfileForm account={account} ask={ask} profile={profile} onSaved={loaded.put} />
          <ContactPart
            account={account}
            ask={ask}
            language={language}
            contact={profile.contact}
            onSaved={(contact) => {
              loaded.put({ ...profile, contact });
            }}
          />
        </>
      )}
    </Part>
  );
}

interface ProfileFormProps {
  account: MemberAccount;
  ask: Ask;
  /** As it is stored. */
  profile: Profile;
  onSaved: (profile: Profile) => void;
}

/** The names of what is sent, by the names of fields here. */
const SENT = { nickname: 'nickname', firstName: 'firstName', lastName: 'lastName', url: 'photoUrl' } as const;

function ProfileForm({ account, ask, profile, onSaved }: ProfileFormProps) {
  const text = useAllTexts();
  const [draft, setDraft] = useState(profile);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSending, setIsSending] = useState(false);
  const [isSaved, setIsSaved] = useState(false);
  const problems = failure?.problems.filter((it) => it.field !== null && it.field in SENT) ?? [];
  const isAtFields = problems.length > 0 && problems.length === failure?.problems.length;
  const at = (name: keyof typeof SENT) => {
    const found = problems.filter((it) => it.field === name);
    const code = (it: string) => (name === 'url' && it === 'FORMAT' ? 'WEB_ADDRESS' : it);
    return found.map((it) => wrongText(text, code(it.code), it.message)).join(' ') || undefined;
  };
  const field = (name: keyof typeof SENT) => ({
    name,
    value: draft[SENT[name]],
    onChange: (value: string) => {
      setDraft({ ...draft, [SENT[name]]: value });
    },
    error: at(name),
  });
  const save = () => {
    if (isSending) return;
    setIsSending(true);
    void saveProfile(ask, account.memberId, profile, draft).then((answer) => {
      setIsSending(false);
      const isDone = 'value' in answer;
      setFailure(isDone ? null : answer.failure);
      setIsSaved(isDone);
      if (isDone) {
        // What was typed meanwhile stays.
        setDraft((now) => (now === draft ? answer.value : now));
        onSaved(answer.value);
      }
    });
  };
  return (
    <>
      <Note failure={isAtFields ? null : failure} done={isSaved ? { text: text.saved } : null} />
      <Form onSubmit={save}>
        <TextField label={text.nickname} autoComplete="nickname" {...field('nickname')} />
        <TextField label={text.firstName} autoComplete="given-name" {...field('firstName')} />
        <TextField label={text.lastName} autoComplete="family-name" {...field('lastName')} />
        {/* The policy of these pages shows no others. */}
        {profile.photoUrl.startsWith('https:') && isWebUrl(profile.photoUrl) && (
          <img className="my-photo" src={profile.photoUrl} alt={text.photo} referrerPolicy="no-referrer" />
        )}
        <TextField
          label={text.photoUrl}
          help={text.photoHelp}
          type="url"
          inputMode="url"
          autoComplete="photo"
          spellCheck="false"
          ltr
          {...field('url')}
        />
        <Checkbox
          isSelected={draft.isPublic}
          onChange={(isPublic) => {
            setDraft({ ...draft, isPublic });
          }}
        >
          {text.showProfile}
        </Checkbox>
        <FormActions>
          <Button type="submit" variant="primary" pending={isSending}>
            {text.saveProfile}
          </Button>
        </FormActions>
      </Form>
    </>
  );
}
