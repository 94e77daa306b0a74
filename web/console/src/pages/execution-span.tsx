import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { formatMs, words } from '../ui/format.ts';
import { Card } from '../ui/parts.tsx';
import { failureName } from './error-help.ts';
import { StepText } from './execution-steps.tsx';

type Execution = Schemas['Execution'];

interface Moment {
  /** Milliseconds since the start of the call. */
  after: number;
  text: ReactNode;
  tookMs?: number;
}

/**
 * The timeline of a call whose contents were not stored: its steps, the events of its account during the call, and its
 * outcome.
 */
export function ExecutionSpan({
  execution,
  steps,
}: {
  execution: Execution;
  steps: readonly Schemas['ExecutionStep'][];
}) {
  const start = Date.parse(execution.started_at);
  const end = execution.finished_at ? Date.parse(execution.finished_at) : undefined;
  const account = useQuery({
    queryKey: ['execution', execution.id, 'account'],
    // The account may have been deleted.
    enabled: end !== undefined && execution.connected_account_id !== '',
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
  const after = (time: string) => Math.max(Date.parse(time) - start, 0);
  const between: Moment[] = [
    ...steps.map((step) => ({
      after: after(step.started_at),
      text: <StepText step={step} />,
      tookMs: step.duration_ms,
    })),
    ...(account.data?.audit_events ?? []).toReversed().map(({ created_at: at, action }) => ({
      after: after(at),
      text: (
        <>
          The account: <b>{words(action.split('.').at(-1) ?? action).toLowerCase()}</b>
        </>
      ),
    })),
  ];
  const begin: Moment = {
    after: 0,
    text: (
      <>
        Started by <b>{execution.api_client_id}</b>
      </>
    ),
  };
  const last: Moment[] = end === undefined ? [] : [{ after: end - start, text: <Ending execution={execution} /> }];
  const moments = [begin, ...between.toSorted((a, b) => a.after - b.after), ...last];
  return (
    <Card title="Timeline">
      <ol className="time-line">
        {[...moments.entries()].map(([number, moment]) => (
          <li key={number}>
            <span className="at">+{formatMs(moment.after)}</span>
            <span>{moment.text}</span>
            {moment.tookMs !== undefined && <span className="took">{formatMs(moment.tookMs)}</span>}
          </li>
        ))}
        {end === undefined && (
          <li>
            <span className="at" />
            <span>{execution.status === 'UNKNOWN' ? 'The outcome was lost' : 'No outcome yet'}</span>
          </li>
        )}
      </ol>
      <p className="muted">
        {steps.length === 0 && 'No request was repeated, and no credential was refreshed. '}
        The request and the response are not stored. Turn on “Keep contents of executions” in{' '}
        <Link to="/settings">Settings</Link> to store them, encrypted, for later calls. Direct calls of an API are never
        stored.
      </p>
    </Card>
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
      <b>{status ?? (kind ? failureName(kind).toLowerCase() : words(outcome).toLowerCase())}</b>
      {status !== null && kind && <>, {failureName(kind).toLowerCase()}</>}
    </>
  );
}
