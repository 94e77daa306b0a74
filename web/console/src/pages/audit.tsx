import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, fetchWithToken, type Schemas, take } from '../api.ts';
import { Breakable } from '../ui/breakable.tsx';
import { chosenOf, type Filter, Filters, useFilters } from '../ui/filters.tsx';
import { formatNumber, formatTime, words } from '../ui/format.ts';
import { type Column, List } from '../ui/list.tsx';
import { Button, Empty, Page, Status, Time, Trouble } from '../ui/parts.tsx';

type Entry = Schemas['AuditEvent'];

const SUBJECTS: [RegExp, '/accounts/$id' | '/connections/$id' | '/webhooks/$id'][] = [
  [/^ca_/, '/accounts/$id'],
  [/^conn_/, '/connections/$id'],
  [/^whk_/, '/webhooks/$id'],
];

function Subject({ id }: { id: string }) {
  const to = SUBJECTS.find(([form]) => form.test(id))?.[1];
  return to ? (
    <Link to={to} params={{ id }}>
      {id}
    </Link>
  ) : (
    id
  );
}

/** `connected_account.created` → `Account created`. */
function titleOf(action: string): string {
  return words(action.replace(/^connected_/, ''));
}

export const AUDIT_COLUMNS: readonly Column<Entry>[] = [
  { head: 'Time', min: 6, grow: 0, cell: (row) => <Time value={row.created_at} /> },
  { head: 'Action', min: 13, grow: 2, cell: (row) => <span title={row.action}>{titleOf(row.action)}</span> },
  {
    head: 'Actor',
    min: 8,
    grow: 2,
    cell: (row) => (
      <bdi>
        <Breakable text={row.actor} />
      </bdi>
    ),
  },
  { head: 'Subject', min: 7.5, grow: 2, cell: (row) => <Subject id={row.subject_id} /> },
  { head: 'Details', min: 8, grow: 3, cell: (row) => textOf(row.details) },
];

/** In the audit log an action is a link to all entries with it. */
const COLUMNS: readonly Column<Entry>[] = AUDIT_COLUMNS.map((column) =>
  column.head === 'Action'
    ? {
        ...column,
        cell: (row) => (
          <Link to="/audit" search={{ action: row.action }} title={row.action}>
            {titleOf(row.action)}
          </Link>
        ),
      }
    : column,
);

/** `{ status: 'ACTIVE', user: { user_id: 'ada' } }` → `Status: ACTIVE · User id: ada`. */
function textOf(details: object): string {
  return Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      if (typeof value === 'object' && !Array.isArray(value)) return textOf(value);
      return `${words(name)}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
    })
    .join(' · ');
}

const FILTERS = [
  { name: 'action', label: 'Action', placeholder: 'connection.updated' },
  { name: 'actor', label: 'Actor', placeholder: 'operator:ada' },
  { name: 'subject_id', label: 'Subject', placeholder: 'ca_…' },
  { name: 'created_from', label: 'From', isTime: true },
  { name: 'created_before', label: 'Before', isTime: true },
] satisfies Filter[];

export async function loadAudit(filters: Readonly<Record<string, string>>, token: string | undefined) {
  const query = { ...filters, page_size: 100, ...(token !== undefined && { page_token: token }) };
  const page = await take(api.GET('/api/v1/audit_events', { params: { query } }));
  return {
    rows: page.audit_events,
    next: page.next_page_token,
    total: page.total_size,
    isLowerBound: page.total_size_is_lower_bound,
  };
}

export function AuditPage() {
  const values = useFilters();
  const filters = chosenOf(FILTERS, values);
  const verify = useMutation({ mutationFn: () => take(api.GET('/api/v1/audit_events:verify')) });
  const save = useMutation({ mutationFn: download });
  return (
    <Page
      title="Audit log"
      lead="Who did what, and when. Entries are chained by hashes, so changes are noticed."
      actions={
        <>
          <Button onClick={() => verify.mutate()} disabled={verify.isPending}>
            {verify.isPending ? 'Verifying …' : 'Verify'}
          </Button>
          <Button onClick={() => save.mutate()} disabled={save.isPending}>
            Export
          </Button>
        </>
      }
    >
      <div role="status">{verify.data && <Verdict result={verify.data} />}</div>
      <Trouble error={verify.error ?? save.error} />
      <Filters filters={FILTERS} />
      <List
        label="Audit log"
        queryKey={['audit', filters]}
        load={(token) => loadAudit(filters, token)}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No entry matches">
            Change or clear the filters. Archived entries are in the files of the server.
          </Empty>
        }
      />
    </Page>
  );
}

function Verdict({ result }: { result: Schemas['AuditVerification'] }) {
  if (!result.intact)
    return <p className="trouble">The log was changed: entry {result.broken_at} does not fit the one before it.</p>;
  const { entries, verified_until: until } = result;
  return (
    <p className="advice">
      <Status value="ACTIVE" label="Intact" /> {formatNumber(entries ?? 0)} entries, verified until{' '}
      {until ? formatTime(until) : 'the first entry that is kept'}.
    </p>
  );
}

/** Saves the whole log as JSON lines. */
async function download(): Promise<void> {
  const response = await fetchWithToken('/api/v1/audit_events:export');
  if (!response.ok) throw new Error(`The server returned ${response.status}.`);
  const url = URL.createObjectURL(await response.blob());
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = `audit-${new Date().toISOString().slice(0, 10)}.jsonl`;
  anchor.click();
  URL.revokeObjectURL(url);
}
