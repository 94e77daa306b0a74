import { Link } from '@tanstack/react-router';
import { api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { Filters, useFilters } from '../ui/filters.tsx';
import { typeName } from '../ui/format.ts';
import { columnsOf } from '../ui/grid.tsx';
import { List } from '../ui/list.tsx';
import { Empty, Page, Status } from '../ui/parts.tsx';

type Connection = Schemas['Connection'];

const column = columnsOf<Connection>();

const COLUMNS = column.columns([
  column.accessor('key_id', {
    header: 'Connection',
    cell: ({ getValue, row }) => (
      <Link to="/connections/$id" params={{ id: row.original.id }}>
        {getValue()}
      </Link>
    ),
    meta: { min: 10, grow: 2 },
  }),
  column.accessor('provider_key', { header: 'Provider', meta: { min: 8, grow: 2 } }),
  column.accessor((row) => (row.enabled ? row.status : 'DISABLED'), {
    header: 'State',
    cell: ({ getValue }) => <Status value={getValue()} {...(getValue() === 'COMPLETED' && { label: 'Ready' })} />,
    meta: { min: 10, grow: 2 },
  }),
  column.accessor((row) => typeName(row.type), { header: 'Type', meta: { min: 8, grow: 1 } }),
  column.accessor((row) => row.organization_name || row.organization_id, {
    id: 'organization',
    header: 'Organization',
    meta: { min: 8, grow: 1, isOptional: true },
  }),
]);

const FILTERS = [
  { name: 'connector', label: 'Provider', placeholder: 'github' },
  { name: 'status', label: 'State', options: ['DRAFT', 'IN_PROGRESS', 'COMPLETED'] },
] as const;

export function ConnectionsPage() {
  const { connector, status } = useFilters();
  const filters = { ...(connector && { connector }), ...(status && { status }) };
  const setUp = may('connections:write') && (
    <Link to="/connections/new" className="button primary">
      Set up a connection
    </Link>
  );
  return (
    <Page
      title="Connections"
      lead="Applications that users can connect, with their clients and scopes."
      actions={setUp}
    >
      <Filters filters={FILTERS} />
      <List
        label="Connections"
        queryKey={['connections', 'list', filters]}
        load={async (token) => {
          const query = { ...filters, page_size: 100, ...(token !== undefined && { page_token: token }) };
          const page = await take(api.GET('/api/v1/connections', { params: { query: query as never } }));
          return { rows: page.connections, next: page.next_page_token, total: page.total_size };
        }}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        rowHref={({ id }) => `/connections/${id}`}
        empty={
          Object.keys(filters).length > 0 ? (
            <Empty title="No connection matches">Change or clear the filters.</Empty>
          ) : (
            <Empty title="Nothing can be connected yet" action={setUp}>
              A connection says how users of an application connect: with which client of yours, and which scopes.
            </Empty>
          )
        }
      />
    </Page>
  );
}
