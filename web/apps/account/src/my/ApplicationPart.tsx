import { endApplication, readApplications, type Application, type Ask } from '../api/member.ts';
import { writtenDate } from '../page/dates.ts';
import { scopeText } from '../page/scopes.ts';
import { useAllTexts } from '../page/WithLaterTexts.tsx';
import { EndingList } from './EndingList.tsx';
import { useLoaded } from './useLoaded.ts';

/** The applications of others in which the member is signed on. */
export function ApplicationPart({ ask, language }: { ask: Ask; language: string }) {
  const text = useAllTexts();
  return (
    <EndingList
      id="applications"
      title={text.appsTitle}
      help={text.appsText}
      none={text.appsNone}
      loaded={useLoaded(ask, readApplications)}
      shown={(it) => <Shown application={it} language={language} />}
      words={({ name }) => ({ action: text.appEnd, question: text.appEndTitle({ name }), text: text.appEndText })}
      end={(id) => endApplication(ask, id)}
      ended={text.appEnded}
    />
  );
}

function Shown({ application, language }: { application: Application; language: string }) {
  const text = useAllTexts();
  const { name, home, scopes, createdDate, lastUsedDate } = application;
  return (
    <div>
      <strong>
        <bdi>{name}</bdi>
      </strong>
      {home !== undefined && (
        <span className="step-quiet">
          <bdi dir="ltr">{home}</bdi>
        </span>
      )}
      <span>{text.appMay}</span>
      <ul>
        {scopes === undefined && <li>{text.appMayAll}</li>}
        {/* Sign-on alone. */}
        {scopes?.length === 0 && <li>{text.appMayKnow}</li>}
        {scopes?.map((scope) => (
          <li key={scope}>{scopeText(text, scope)}</li>
        ))}
      </ul>
      <span className="step-quiet">{text.sessionBegan({ date: writtenDate(createdDate, language) })}</span>
      <span className="step-quiet">{text.lastUsed({ date: writtenDate(lastUsedDate, language) })}</span>
    </div>
  );
}
