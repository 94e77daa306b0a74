import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { Breakable } from '../ui/breakable.tsx';
import { chosenOf, type Filter, Filters, useFilters } from '../ui/filters.tsx';
import { columnsOf } from '../ui/grid.tsx';
import { List } from '../ui/list.tsx';
import { Button, Empty, Page, Status, Time } from '../ui/parts.tsx';
import { ConnectAccount } from './connect-account.tsx';
import { RevocationList } from './revocations.tsx';

type Account = Schemas['ConnectedAccountSummary'];

const column = columnsOf<Account>();

const COLUMNS = column.columns([
  column.accessor('identifier', {
    header: 'Account',
    cell: ({ getValue, row }) => (
      <Link to="/accounts/$id" params={{ id: row.original.id }}>
        <bdi>
          <Breakable text={getValue()} />
        </bdi>
      </Link>
    ),
    meta: { min: 8.5, grow: 3 },
  }),
  column.accessor('status', {
    header: 'Status',
    cell: ({ getValue }) => <Status value={getValue()} />,
    meta: { min: 10 },
  }),
  column.accessor('provider', { header: 'Provider', meta: { min: 6, grow: 2 } }),
  column.accessor('user_id', {
    header: 'User',
    cell: ({ getValue }) => <bdi>{getValue()}</bdi>,
    meta: { min: 6, grow: 2 },
  }),
  column.accessor((row) => row.organization_id, {
    id: 'organization',
    header: 'Organization',
    cell: ({ getValue }) => <bdi>{getValue()}</bdi>,
    meta: { min: 6, grow: 2, isOptional: true },
  }),
  column.accessor('last_used_at', {
    header: 'Last used',
    cell: ({ getValue }) => <Time value={getValue()} />,
    meta: { min: 6.5, grow: 1 },
  }),
]);

const FILTERS = [
  { name: 'query', label: 'Identifier contains', placeholder: 'ada@' },
  {
    name: 'status',
    label: 'Status',
    options: ['ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'],
  },
  { name: 'provider', label: 'Provider', placeholder: 'github' },
  { name: 'user_id', label: 'User' },
  { name: 'organization_id', label: 'Organization' },
] satisfies Filter[];

async function load({ query: text, ...filters }: Record<string, string>, token: string | undefined) {
  const paging = { page_size: 100, ...(token !== undefined && { page_token: token }) };
  const page = text
    ? await take(api.GET('/api/v1/connected_accounts:search', { params: { query: { query: text, ...paging } } }))
    : await take(api.GET('/api/v1/connected_accounts', { params: { query: { ...filters, ...paging } as never } }));
  return {
    rows: page.connected_accounts,
    next: page.next_page_token,
    total: page.total_size,
    isLowerBound: page.total_size_is_lower_bound,
  };
}

export function AccountsPage() {
  const values = useFilters();
  const [isConnecting, setIsConnecting] = useState(values['connect'] !== undefined && may('accounts:write'));
  const filters = chosenOf(FILTERS, values);
  const connect = may('accounts:write') && (
    <Button kind="primary" onClick={() => setIsConnecting(true)}>
      Connect an account
    </Button>
  );
  return (
    <Page title="Accounts" lead="Accounts of your users at third-party applications." actions={connect}>
      {isConnecting && <ConnectAccount connector={values['connect'] ?? ''} onClose={() => setIsConnecting(false)} />}
      <nav className="tabs" aria-label="Views">
        <Link to="/accounts" search={{}} className={values['view'] ? '' : 'chosen'}>
          Accounts
        </Link>
        <Link to="/accounts" search={{ view: 'revocations' }} className={values['view'] ? 'chosen' : ''}>
          Revocations
        </Link>
      </nav>
      {values['view'] === 'revocations' ? (
        <RevocationList />
      ) : (
        <>
          <Filters filters={FILTERS} />
          {filters['query'] && (
            <p className="hint">The search looks at identifiers only; other filters are not applied.</p>
          )}
          <List
            label="Accounts"
            queryKey={['accounts', filters]}
            load={(token) => load(filters, token)}
            columns={COLUMNS}
            rowKey={({ id }) => id}
            rowHref={({ id }) => `/accounts/${id}`}
            empty={
              Object.keys(filters).length > 0 ? (
                <Empty title="No account matches">Change or clear the filters.</Empty>
              ) : (
                <Empty title="No account is connected yet" action={connect}>
                  A user connects an account by opening a link of yours. Agents then call tools with it, and never see
                  its credentials.
                </Empty>
              )
            }
          />
        </>
      )}
    </Page>
  );
}
