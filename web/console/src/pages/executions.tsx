import { Link } from '@tanstack/react-router';
import { api, type Schemas, take } from '../api.ts';
import { Breakable } from '../ui/breakable.tsx';
import { chosenOf, type Filter, Filters, useFilters } from '../ui/filters.tsx';
import { formatMs } from '../ui/format.ts';
import { columnsOf } from '../ui/grid.tsx';
import { List } from '../ui/list.tsx';
import { Empty, Page, Status, Time } from '../ui/parts.tsx';
import { ERROR_KINDS, failureName } from './error-help.ts';

type Execution = Schemas['Execution'];

const column = columnsOf<Execution>();

export const EXECUTION_COLUMNS = column.columns([
  column.accessor('started_at', {
    header: 'Started',
    cell: ({ getValue }) => <Time value={getValue()} />,
    meta: { min: 6, grow: 1 },
  }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status value={getValue()} />,
    meta: { min: 7 },
  }),
  column.accessor('tool_name', {
    header: 'Tool',
    cell: ({ getValue, row }) => (
      <Link to="/executions/$id" params={{ id: row.original.id }}>
        <Breakable text={getValue()} />
      </Link>
    ),
    meta: { min: 13, grow: 3 },
  }),
  column.accessor((row) => (row.error_kind ? failureName(row.error_kind) : ''), {
    header: 'Error',
    meta: { min: 6.5, grow: 2 },
  }),
  column.accessor((row) => formatMs(row.duration_ms), { header: 'Duration', meta: { min: 4.5, grow: 1 } }),
  column.accessor('api_client_id', { header: 'Caller', meta: { min: 6.5, grow: 2 } }),
]);

const FILTERS = [
  { name: 'status', label: 'Status', options: ['STARTED', 'SUCCEEDED', 'FAILED', 'UNKNOWN'] },
  { name: 'error_kind', label: 'Error', options: ERROR_KINDS },
  { name: 'tool_name', label: 'Tool', placeholder: 'github_get_issue' },
  { name: 'connector', label: 'Connector', placeholder: 'github' },
  { name: 'connected_account_id', label: 'Account', placeholder: 'ca_…' },
  { name: 'agent_run_id', label: 'Agent run' },
  { name: 'api_client_id', label: 'Caller', placeholder: 'cli_…' },
  { name: 'started_from', label: 'From', isTime: true },
  { name: 'started_before', label: 'Before', isTime: true },
] satisfies Filter[];

export async function loadExecutions(filters: Readonly<Record<string, string | undefined>>, token: string | undefined) {
  const query = { ...filters, page_size: 100, ...(token !== undefined && { page_token: token }) };
  const page = await take(api.GET('/api/v1/executions', { params: { query: query as never } }));
  return {
    rows: page.executions,
    next: page.next_page_token,
    total: page.total_size,
    isLowerBound: page.total_size_is_lower_bound,
  };
}

export function ExecutionsPage() {
  const values = useFilters();
  const filters = chosenOf(FILTERS, values);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page title="Executions" lead="Every tool call, with its outcome. New calls appear by themselves.">
      <Filters filters={FILTERS} />
      <List
        label="Executions"
        queryKey={['executions', filters]}
        load={(token) => loadExecutions(filters, token)}
        columns={EXECUTION_COLUMNS}
        rowKey={({ id }) => id}
        rowHref={({ id }) => `/executions/${id}`}
        empty={
          isFiltered ? (
            <Empty title="No execution matches">Change or clear the filters.</Empty>
          ) : (
            <Empty
              title="No tool was called yet"
              action={
                <Link className="button primary" to="/tools">
                  Try a tool
                </Link>
              }
            >
              An execution is recorded when an agent calls a tool, over the API or over MCP.
            </Empty>
          )
        }
      />
    </Page>
  );
}
