import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, take } from '../api.ts';
import { type Bar, CallsChart } from '../ui/chart.tsx';
import { formatMs, formatNumber, words } from '../ui/format.ts';
import { Card, Loading, Page, Trouble } from '../ui/parts.tsx';
import { failureName } from './error-help.ts';
import { NextSteps } from './next-steps.tsx';

const HOUR_MS = 3_600_000;
const HOURS = 24;
const STATUSES = ['ACTIVE', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'EXPIRED', 'DISCONNECTED'] as const;

export function HomePage() {
  return (
    <Page title="Home" lead="What happens in this environment, and what is left to do.">
      <Health />
      <NextSteps />
      <Calls />
      <div className="columns">
        <div className="stack">
          <Failures />
          <Refreshes />
        </div>
        <Accounts />
      </div>
    </Page>
  );
}

function Health() {
  const health = useQuery({
    queryKey: ['health'],
    queryFn: async () => (await fetch('/readyz')).ok,
    refetchInterval: 30_000,
  });
  const failed = useQuery({
    queryKey: ['revocations', 'failed'],
    queryFn: () => take(api.GET('/api/v1/revocations', { params: { query: { status: 'FAILED', page_size: 1 } } })),
  });
  const count = failed.data?.total_size ?? 0;
  return (
    <>
      {health.data === false && (
        <p className="trouble" role="alert">
          <strong>The server is not ready.</strong> Its database or its keys do not work. See the log of the server.
        </p>
      )}
      {count > 0 && (
        <p className="trouble" role="alert">
          <strong>
            {formatNumber(count)} {count === 1 ? 'revocation has' : 'revocations have'} failed.
          </strong>{' '}
          A provider may still accept tokens of accounts that were disconnected.{' '}
          <Link to="/accounts" search={{ view: 'revocations' }}>
            Show them
          </Link>
        </p>
      )}
    </>
  );
}

function useStatistics(group: 'hour' | 'outcome') {
  return useQuery({
    queryKey: ['statistics', group],
    refetchInterval: 60_000,
    queryFn: () => take(api.GET('/api/v1/executions:statistics', { params: { query: { group_by: group } } })),
  });
}

function Calls() {
  const { data, error } = useStatistics('hour');
  if (error) return <Trouble error={error} />;
  if (!data) return <Loading />;
  const byHour = new Map(data.groups.map((group) => [Date.parse(group.key), group]));
  const end = Date.parse(data.before);
  const bars: Bar[] = Array.from({ length: HOURS }, (_, index) => {
    const at = end - (HOURS - index) * HOUR_MS;
    const group = byHour.get(at);
    return {
      at: new Date(at).toISOString(),
      succeeded: group?.succeeded ?? 0,
      failed: (group?.failed ?? 0) + (group?.unknown ?? 0),
      p50: group?.duration_ms_p50 ?? null,
      p99: group?.duration_ms_p99 ?? null,
    };
  });
  const { executions, succeeded, duration_ms_p50: p50, duration_ms_p99: p99 } = data.total;
  const share =
    executions === 0 ? '–' : `${((succeeded / executions) * 100).toFixed(succeeded === executions ? 0 : 1)} %`;
  const figures: [name: string, value: string][] = [
    ['Calls', formatNumber(executions)],
    ['Succeeded', share],
    ['Median time', formatMs(p50)],
    ['99 % within', formatMs(p99)],
  ];
  return (
    <Card title="Tool calls, last 24 hours" actions={<Link to="/executions">All executions</Link>}>
      <Figures figures={figures} />
      {executions === 0 ? (
        <p className="muted">Calls of agents appear here, hour by hour.</p>
      ) : (
        <CallsChart bars={bars} />
      )}
    </Card>
  );
}

function Failures() {
  const { data, error } = useStatistics('outcome');
  const kinds = data?.groups.filter(({ key }) => key !== 'succeeded') ?? [];
  return (
    <Card
      title="Failures, last 24 hours"
      actions={
        <Link to="/executions" search={{ status: 'FAILED' }}>
          Failed executions
        </Link>
      }
    >
      <Trouble error={error} />
      {data && kinds.length === 0 && <p className="muted">No call has failed in the last 24 hours.</p>}
      <Meters counts={kinds.map(({ key, executions }) => ({ name: failureName(key), count: executions }))} />
    </Card>
  );
}

/** The names and counts of failures, each with a bar. */
function Meters({ counts }: { counts: readonly { name: string; count: number }[] }) {
  const most = Math.max(1, ...counts.map(({ count }) => count));
  return (
    <ul className="meters">
      {counts.map(({ name, count }) => (
        <li key={name}>
          <span>{name}</span>
          <meter min={0} max={most} value={count} aria-label={name} />
          <b>{formatNumber(count)}</b>
        </li>
      ))}
    </ul>
  );
}

function Refreshes() {
  const { data, error } = useQuery({
    queryKey: ['refreshes'],
    queryFn: () =>
      take(api.GET('/api/v1/connected_accounts:refresh_statistics', { params: { query: { group_by: 'outcome' } } })),
  });
  const failures = data?.groups.filter(({ failed }) => failed > 0) ?? [];
  return (
    <Card
      title="Token refreshes, last 24 hours"
      actions={
        <Link to="/accounts" search={{ status: 'EXPIRED' }}>
          Expired accounts
        </Link>
      }
    >
      <Trouble error={error} />
      {data?.total.refreshes === 0 && (
        <p className="muted">
          No token has been refreshed. Valetkey refreshes tokens when they expire, without a user.
        </p>
      )}
      {data && data.total.refreshes > 0 && (
        <Figures
          figures={[
            ['Refreshes', formatNumber(data.total.refreshes)],
            ['Succeeded', formatNumber(data.total.succeeded)],
            ['Account expired', formatNumber(data.total.expired)],
            ['Failed for now', formatNumber(data.total.failed)],
          ]}
        />
      )}
      <Meters counts={failures.map(({ key, failed }) => ({ name: failureName(key), count: failed }))} />
    </Card>
  );
}

function Figures({ figures }: { figures: readonly (readonly [name: string, value: string])[] }) {
  return (
    <dl className="figures">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Accounts() {
  const { data, error } = useQuery({
    queryKey: ['accounts', 'by status'],
    queryFn: () =>
      Promise.all(
        STATUSES.map(async (status) => {
          const query = { status, page_size: 1 };
          const page = await take(api.GET('/api/v1/connected_accounts', { params: { query } }));
          return { status, total: page.total_size };
        }),
      ),
  });
  return (
    <Card title="Accounts by status" actions={<Link to="/accounts">All accounts</Link>}>
      <Trouble error={error} />
      <ul className="counts">
        {data?.map(({ status, total }) => (
          <li key={status}>
            <Link to="/accounts" search={{ status }}>
              {words(status)}
            </Link>
            <b>{formatNumber(total)}</b>
          </li>
        ))}
      </ul>
    </Card>
  );
}
