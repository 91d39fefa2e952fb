import { useState } from 'react';
import { StepHead } from '../page/StepHead.tsx';
import { useText } from '../page/text.ts';
import { ProfileFields, profileInput, requiredValues, type ProfileValues } from './ProfileFields.tsx';
import { missing, siteName, type StepProps } from './step.ts';
import { StepForm } from './StepForm.tsx';

export function MissingFields({ view, step, flow }: StepProps<'MISSING_FIELDS'>) {
  const text = useText();
  const site = siteName(view, text);
  const [profile, setProfile] = useState<ProfileValues>({});
  return (
    <>
      <StepHead title={text.missingTitle} site={site}>
        {text.missingText({ site })}
      </StepHead>
      <StepForm
        view={view}
        flow={flow}
        submit={text.save}
        fields={step.fields.map((it) => it.name)}
        check={() => missing(requiredValues(step.fields, profile))}
        onSubmit={() => {
          flow.send({ type: 'MISSING_FIELDS', profile: profileInput(profile) });
        }}
      >
        {(errorAt) => <ProfileFields fields={step.fields} values={profile} onChange={setProfile} errorAt={errorAt} />}
      </StepForm>
    </>
  );
}
