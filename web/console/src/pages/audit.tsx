import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, fetchWithToken, type Schemas, take } from '../api.ts';
import { Breakable } from '../ui/breakable.tsx';
import { chosenOf, type Filter, Filters, useFilters } from '../ui/filters.tsx';
import { formatNumber, formatTime, words } from '../ui/format.ts';
import { columnsOf } from '../ui/grid.tsx';
import { List } from '../ui/list.tsx';
import { Button, Empty, Page, Status, Time, Trouble } from '../ui/parts.tsx';

type Entry = Schemas['AuditEvent'];

const SUBJECTS: [RegExp, '/accounts/$id' | '/connections/$id' | '/webhooks/$id'][] = [
  [/^ca_/, '/accounts/$id'],
  [/^conn_/, '/connections/$id'],
  [/^whk_/, '/webhooks/$id'],
];

/** An id stays on one line where it fits; a name may be broken after its separators. */
const ID = /^[a-z]+_[0-9a-z]{26}$/;

/** Actions on a tool have its name as their subject. */
const TOOL_ACTION = /^tool(_overlay)?\./;

function Subject({ id, action }: { id: string; action: string }) {
  const [isOfTool, ofOverlay] = TOOL_ACTION.exec(action) ?? [];
  if (isOfTool)
    return (
      <Link to={ofOverlay ? '/overlays/$name' : '/tools/$name'} params={{ name: id }}>
        <Breakable text={id} />
      </Link>
    );
  const to = SUBJECTS.find(([form]) => form.test(id))?.[1];
  if (!to) return ID.test(id) ? <code>{id}</code> : <Breakable text={id} />;
  return (
    <Link to={to} params={{ id }}>
      <code>{id}</code>
    </Link>
  );
}

/** `connected_account.created` → `Account created`. */
function titleOf(action: string): string {
  return words(action.replace(/^connected_/, ''));
}

const column = columnsOf<Entry>();

const TIME = column.accessor('created_at', {
  header: 'Time',
  cell: ({ getValue }) => <Time value={getValue()} />,
  meta: { min: 6 },
});
const ACTOR = column.accessor('actor', {
  header: 'Actor',
  cell: ({ getValue }) => (
    <bdi>
      <Breakable text={getValue()} />
    </bdi>
  ),
  meta: { min: 8, grow: 2 },
});
const DETAILS = column.accessor((row) => textOf(row.details), { header: 'Details', meta: { min: 8, grow: 3 } });

/** The columns of the audit log of one subject. */
export const TIMELINE_COLUMNS = column.columns([
  TIME,
  column.accessor('action', {
    header: 'Action',
    cell: ({ getValue }) => <span title={getValue()}>{titleOf(getValue())}</span>,
    meta: { min: 13, grow: 2 },
  }),
  ACTOR,
  DETAILS,
]);

const COLUMNS = column.columns([
  TIME,
  column.accessor('action', {
    header: 'Action',
    cell: ({ getValue }) => (
      <Link to="/audit" search={{ action: getValue() }} title={getValue()}>
        {titleOf(getValue())}
      </Link>
    ),
    meta: { min: 13, grow: 2 },
  }),
  ACTOR,
  column.accessor('subject_id', {
    header: 'Subject',
    cell: ({ getValue, row }) => <Subject id={getValue()} action={row.original.action} />,
    meta: { min: 16.5, grow: 3 },
  }),
  DETAILS,
]);

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
        wraps
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
