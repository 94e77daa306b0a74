import { useMutation, useQuery } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { currentSession } from '../session.ts';
import { Button, Card, Copy, Field, Loading, Status, Time, Trouble, WideTable } from '../ui/parts.tsx';

/** The sessions of operators, and one-time addresses for others. */
export function Operators() {
  const { data, error } = useQuery({
    queryKey: ['settings', 'operators'],
    queryFn: () => take(api.GET('/api/v1/operator_sessions', { params: { query: { page_size: 100 } } })),
  });
  const end = useMutation({
    mutationFn: (id: string) =>
      take(api.POST('/api/v1/operator_sessions/{session_id}:end', { params: { path: { session_id: id } } })),
  });
  if (!data) return error ? <Trouble error={error} /> : <Loading />;
  return (
    <Card title="Operators">
      <WideTable label="Operators" heads={['Operator', 'Role', 'Session', 'Last used', 'Expires', 'Actions']}>
        {data.operator_sessions.map((session) => (
          <tr key={session.id}>
            <td>
              <bdi>{session.operator}</bdi>
            </td>
            <td>{session.role.toLowerCase()}</td>
            <td>
              <Status
                value={session.state}
                label={session.state === 'OFFERED' ? 'Address not used yet' : 'Logged in'}
              />
            </td>
            <td>
              <Time value={session.last_used_at} />
            </td>
            <td>
              <Time value={session.expires_at} />
            </td>
            <td>
              {session.id === currentSession()?.id ? (
                'This session'
              ) : (
                <Button kind="danger" onClick={() => end.mutate(session.id)}>
                  End
                </Button>
              )}
            </td>
          </tr>
        ))}
      </WideTable>
      <Trouble error={end.error} />
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
