import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { formatMs, words } from '../ui/format.ts';
import { Card } from '../ui/parts.tsx';

type Execution = Schemas['Execution'];

/** The time line of a call whose contents were not stored: its start, what happened to its account meanwhile, and its outcome. */
export function ExecutionSpan({ execution }: { execution: Execution }) {
  const start = Date.parse(execution.started_at);
  const end = execution.finished_at ? Date.parse(execution.finished_at) : undefined;
  const account = useQuery({
    queryKey: ['execution', execution.id, 'account'],
    enabled: end !== undefined,
    queryFn: () => {
      const until = new Date((end ?? start) + 1).toISOString();
      const query = {
        subject_id: execution.connected_account_id,
        created_from: execution.started_at,
        created_before: until,
        page_size: 20,
      };
      return take(api.GET('/api/v1/audit_events', { params: { query } }));
    },
  });
  const changes = (account.data?.audit_events ?? []).toReversed();
  return (
    <Card title="Time line">
      <ol className="time-line">
        <Moment after={0}>
          Started by <b>{execution.api_client_id}</b>
        </Moment>
        {changes.map(({ id, created_at: at, action }) => (
          <Moment key={id} after={Date.parse(at) - start}>
            The account: <b>{words(action.split('.').at(-1) ?? action)}</b>
          </Moment>
        ))}
        {end === undefined ? (
          <li>
            <span className="at" />
            <span>{execution.status === 'UNKNOWN' ? 'The outcome was lost' : 'No outcome yet'}</span>
          </li>
        ) : (
          <Moment after={end - start}>
            <Ending execution={execution} />
          </Moment>
        )}
      </ol>
      <p className="muted">
        Each request, with its retries, waits and refreshes, is shown for calls whose contents are stored. Turn on “Keep
        contents of executions” in <Link to="/settings">Settings</Link> to store them, encrypted, for later calls.
        Direct calls of an API are never stored.
      </p>
    </Card>
  );
}

function Moment({ after, children }: { after: number; children: ReactNode }) {
  return (
    <li>
      <span className="at">+{formatMs(Math.max(after, 0))}</span>
      <span>{children}</span>
    </li>
  );
}

function Ending({
  execution: { upstream_status: status, error_kind: kind, status: outcome },
}: {
  execution: Execution;
}) {
  return (
    <>
      {status === null ? 'Ended without a response of the provider: ' : 'Ended with the response '}
      <b>{status ?? words(kind ?? outcome)}</b>
      {status !== null && kind && <>, {words(kind)}</>}
    </>
  );
}
