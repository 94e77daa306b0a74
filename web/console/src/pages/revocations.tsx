import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { columnsOf } from '../ui/grid.tsx';
import { List } from '../ui/list.tsx';
import { Button, Empty, Status, Time, Trouble } from '../ui/parts.tsx';

const column = columnsOf<Schemas['Revocation']>();

function columnsFor(retry: (id: string) => void) {
  return column.columns([
    column.accessor('updated_at', {
      header: 'Updated',
      cell: ({ getValue }) => <Time value={getValue()} />,
      meta: { min: 6, grow: 1 },
    }),
    column.accessor('status', {
      header: 'Status',
      cell: ({ getValue }) => <Status value={getValue()} />,
      meta: { min: 7.5, grow: 1 },
    }),
    column.accessor('provider', { header: 'Provider', meta: { min: 6, grow: 1 } }),
    column.accessor('connected_account_id', {
      header: 'Account',
      cell: ({ getValue }) => (
        <Link to="/accounts/$id" params={{ id: getValue() }}>
          {getValue()}
        </Link>
      ),
      meta: { min: 8, grow: 2 },
    }),
    column.accessor('reason', { header: 'Reason', meta: { min: 8, grow: 3 } }),
    column.display({
      header: 'Action',
      cell: ({ row: { original } }) =>
        original.status === 'FAILED' && may('jobs:write') && <Button onClick={() => retry(original.id)}>Retry</Button>,
      meta: { min: 6.5 },
    }),
  ]);
}

/** Revocations of tokens at providers: those that failed can be tried again. */
export function RevocationList() {
  const { mutate, error } = useMutation({
    mutationFn: (id: string) => take(api.POST('/api/v1/jobs/{job_id}:retry', { params: { path: { job_id: id } } })),
  });
  const columns = useMemo(() => columnsFor(mutate), [mutate]);
  return (
    <>
      <Trouble error={error} />
      <List
        label="Revocations"
        queryKey={['revocations', 'list']}
        load={async (token) => {
          const query = { page_size: 100, ...(token !== undefined && { page_token: token }) };
          const page = await take(api.GET('/api/v1/revocations', { params: { query } }));
          return { rows: page.revocations, next: page.next_page_token, total: page.total_size };
        }}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title="Nothing was revoked yet">
            When an account is disconnected or deleted, its tokens are revoked at the provider.
          </Empty>
        }
      />
    </>
  );
}
