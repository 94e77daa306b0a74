import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useMemo } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { currentSession } from '../session.ts';
import { Breakable } from '../ui/breakable.tsx';
import { columnsOf } from '../ui/grid.tsx';
import { List } from '../ui/list.tsx';
import { Button, Card, Copy, Field, Status, Time, Trouble } from '../ui/parts.tsx';

const column = columnsOf<Schemas['OperatorSession']>();

function columnsFor(end: (id: string) => void) {
  return column.columns([
    column.accessor('operator', {
      header: 'Operator',
      cell: ({ getValue }) => (
        <bdi>
          <Breakable text={getValue()} />
        </bdi>
      ),
      meta: { min: 9, grow: 3 },
    }),
    column.accessor((row) => row.role.toLowerCase(), { header: 'Role', meta: { min: 4, grow: 1 } }),
    column.accessor('state', {
      header: 'Session',
      cell: ({ getValue }) => (
        <Status value={getValue()} label={getValue() === 'OFFERED' ? 'Address not used yet' : 'Logged in'} />
      ),
      meta: { min: 11.5, grow: 1 },
    }),
    column.accessor('last_used_at', {
      header: 'Last used',
      cell: ({ getValue }) => <Time value={getValue()} />,
      meta: { min: 6, grow: 1 },
    }),
    column.accessor('expires_at', {
      header: 'Expires',
      cell: ({ getValue }) => <Time value={getValue()} />,
      meta: { min: 6, grow: 1 },
    }),
    column.display({
      header: 'Action',
      cell: ({ row: { original } }) =>
        original.id === currentSession()?.id ? (
          'This session'
        ) : (
          <Button kind="danger" onClick={() => end(original.id)}>
            End
          </Button>
        ),
      meta: { min: 7 },
    }),
  ]);
}

/** The sessions of operators, and a form that creates one-time addresses for other operators. */
export function Operators() {
  const { mutate, error } = useMutation({
    mutationFn: (id: string) =>
      take(api.POST('/api/v1/operator_sessions/{session_id}:end', { params: { path: { session_id: id } } })),
  });
  const columns = useMemo(() => columnsFor(mutate), [mutate]);
  return (
    <Card title="Operators">
      <List
        label="Operators"
        queryKey={['settings', 'operators']}
        load={async (token) => {
          const query = { page_size: 100, ...(token !== undefined && { page_token: token }) };
          const page = await take(api.GET('/api/v1/operator_sessions', { params: { query } }));
          return { rows: page.operator_sessions, next: page.next_page_token, total: page.total_size };
        }}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<p className="muted">No operator is logged in.</p>}
      />
      <Trouble error={error} />
      <Invite />
    </Card>
  );
}

function Invite() {
  const create = useMutation({
    mutationFn: (body: { operator: string; role: Schemas['OperatorRole'] }) =>
      take(api.POST('/api/v1/operator_sessions', { body })),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    create.mutate({
      operator: String(form.get('operator')),
      role: String(form.get('role')) as Schemas['OperatorRole'],
    });
  };
  return (
    <>
      <form className="line-form" onSubmit={submit}>
        <Field label="New operator">
          {(id) => <input id={id} name="operator" required maxLength={100} placeholder="ada@example.com" />}
        </Field>
        <Field label="Role">
          {(id) => (
            <select id={id} name="role">
              <option value="VIEWER">viewer: reads</option>
              <option value="EDITOR">editor: also changes and runs tools</option>
              <option value="OWNER">owner: also settings and operators</option>
            </select>
          )}
        </Field>
        <Button type="submit" disabled={create.isPending}>
          Create an address
        </Button>
        <Trouble error={create.error} />
      </form>
      {create.data && (
        <div className="stack" role="status">
          <p>
            Send this address to {create.data.operator_session.operator} over a private channel. It works once, for 15
            minutes.
          </p>
          <Copy text={create.data.login_url} label="the one-time address" block />
        </div>
      )}
    </>
  );
}
