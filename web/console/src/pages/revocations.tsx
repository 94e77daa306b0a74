import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { type Column, List } from '../ui/list.tsx';
import { Button, Empty, Status, Time, Trouble } from '../ui/parts.tsx';

/** Revocations of tokens at providers: those that failed can be tried again. */
export function RevocationList() {
  const retry = useMutation({
    mutationFn: (id: string) => take(api.POST('/api/v1/jobs/{job_id}:retry', { params: { path: { job_id: id } } })),
  });
  const columns: readonly Column<Schemas['Revocation']>[] = [
    { head: 'Updated', min: 6, grow: 1, cell: (row) => <Time value={row.updated_at} /> },
    { head: 'Status', min: 7.5, grow: 1, cell: (row) => <Status value={row.status} /> },
    { head: 'Provider', min: 6, grow: 1, cell: (row) => row.provider },
    {
      head: 'Account',
      min: 8,
      grow: 2,
      cell: (row) => (
        <Link to="/accounts/$id" params={{ id: row.connected_account_id }}>
          {row.connected_account_id}
        </Link>
      ),
    },
    { head: 'Reason', min: 8, grow: 3, cell: (row) => row.reason },
    {
      head: 'Action',
      min: 6.5,
      grow: 0,
      cell: (row) =>
        row.status === 'FAILED' && may('jobs:write') && <Button onClick={() => retry.mutate(row.id)}>Retry</Button>,
    },
  ];
  return (
    <>
      <Trouble error={retry.error} />
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
