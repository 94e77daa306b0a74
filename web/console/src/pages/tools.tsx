import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { Breakable } from '../ui/breakable.tsx';
import { Filters, useFilters } from '../ui/filters.tsx';
import { type Columns, columnsOf } from '../ui/grid.tsx';
import { List } from '../ui/list.tsx';
import { Empty, Loading, Page, Status, Trouble } from '../ui/parts.tsx';

type Tool = Schemas['ToolSummary'];

export function Hints({ hints }: { hints: Tool['hints'] }) {
  if (hints.read_only) return <Status value="ENABLED" label="Reads" />;
  return hints.destructive ? (
    <Status value="EXPIRED" label="Overwrites or deletes" />
  ) : (
    <Status value="NEUTRAL" label="Adds" />
  );
}

const column = columnsOf<Tool>();

/** The links to tools contain the chosen account, so that the page of a tool runs the tool with that account. */
function columnsFor(account: string | undefined) {
  return column.columns([
    column.accessor('name', {
      header: 'Tool',
      cell: ({ getValue }) => (
        <Link to="/tools/$name" params={{ name: getValue() }} search={account ? { account } : {}}>
          <Breakable text={getValue()} />
        </Link>
      ),
      meta: { min: 18, grow: 3 },
    }),
    column.accessor('hints', {
      header: 'Effect',
      cell: ({ getValue }) => <Hints hints={getValue()} />,
      meta: { min: 12 },
    }),
    column.accessor('connector', { header: 'Connector', meta: { min: 6, grow: 1 } }),
    column.accessor('description', { header: 'Description', meta: { min: 12, grow: 4 } }),
  ]);
}

const FILTERS = [
  { name: 'query', label: 'Search as agents do', placeholder: 'create an issue' },
  { name: 'connector', label: 'Connector', placeholder: 'github' },
  { name: 'read_only', label: 'Effect', options: { true: 'Reads only' } },
] as const;

export function ToolsPage() {
  const { query = '', connector, read_only: readOnly, account } = useFilters();
  const columns = useMemo(() => columnsFor(account), [account]);
  const filters = { ...(connector && { connector }), ...(readOnly && { read_only: true }) };
  return (
    <Page
      title="Tools"
      lead={
        account
          ? 'Choose a tool to run with the account. Those that only read change nothing.'
          : 'Everything that agents can call. Open a tool to read its schema and to try it.'
      }
    >
      <Filters filters={FILTERS} />
      {query ? (
        <Found query={query} connector={connector} columns={columns} />
      ) : (
        <List
          label="Tools"
          queryKey={['tools', 'list', filters]}
          load={(token) => loadTools(filters, token)}
          columns={columns}
          rowKey={({ name }) => name}
          empty={<Empty title="No tool matches">Change or clear the filters, or import an API description.</Empty>}
        />
      )}
    </Page>
  );
}

async function loadTools(filters: { connector?: string; read_only?: boolean }, token: string | undefined) {
  const query = {
    ...filters,
    detail: 'compact' as const,
    page_size: 100,
    ...(token !== undefined && { page_token: token }),
  };
  const page = await take(api.GET('/api/v1/tools', { params: { query } }));
  return { rows: page.tools as Tool[], next: page.next_page_token, total: page.total_size };
}

function Found({
  query,
  connector,
  columns,
}: {
  query: string;
  connector: string | undefined;
  columns: Columns<Tool>;
}) {
  const { data, error } = useQuery({
    queryKey: ['tools', 'search', query, connector],
    queryFn: () =>
      take(
        api.GET('/api/v1/tools:search', {
          params: { query: { query, limit: 20, detail: 'compact', ...(connector && { connector }) } },
        }),
      ),
  });
  if (error) return <Trouble error={error} />;
  if (!data) return <Loading />;
  const tools = data.hits.map(({ tool }) => tool as Tool);
  return (
    <List
      label="Tools found"
      queryKey={['tools', 'found', query, connector, tools.map(({ name }) => name)]}
      load={async () => ({ rows: tools, next: '', total: tools.length })}
      columns={columns}
      rowKey={({ name }) => name}
      empty={<Empty title="No tool was found">Agents would not find one either. Use other words.</Empty>}
    />
  );
}
