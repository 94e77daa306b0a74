import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useMemo, useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { Breakable } from '../ui/breakable.tsx';
import { columnsOf } from '../ui/grid.tsx';
import { List } from '../ui/list.tsx';
import { Button, Card, Confirm, Copy, Field, Status, Time, Trouble } from '../ui/parts.tsx';

type Client = Schemas['ApiClient'];
type Scope = Schemas['Scope'];

const SCOPES: Record<string, readonly Scope[]> = {
  'An agent: finds and runs tools': ['tools:read', 'tools:execute'],
  'An application: also connects accounts': [
    'accounts:read',
    'accounts:write',
    'connections:read',
    'providers:read',
    'tools:read',
    'tools:execute',
    'events:read',
  ],
};

const column = columnsOf<Client>();

function columnsFor(actions: { rotate(id: string): void; disable(client: Client): void }) {
  return column.columns([
    column.accessor('name', {
      header: 'Name',
      cell: ({ getValue, row }) => (
        <div>
          <bdi>{getValue()}</bdi>
          <br />
          <code className="muted">
            <Breakable text={row.original.id} />
          </code>
        </div>
      ),
      meta: { min: 10, grow: 3 },
    }),
    column.accessor('enabled', {
      header: 'State',
      cell: ({ getValue }) => <Status value={getValue() ? 'ENABLED' : 'DISABLED'} />,
      meta: { min: 6.5 },
    }),
    column.accessor('scopes', {
      header: 'Scopes',
      cell: ({ getValue }) => (
        <details>
          <summary>{getValue().length === 1 ? '1 scope' : `${getValue().length} scopes`}</summary>
          {getValue().join(', ')}
        </details>
      ),
      meta: { min: 8, grow: 2 },
    }),
    column.accessor('secrets', {
      header: 'Secrets',
      cell: ({ getValue }) => (
        <div>
          {getValue().map(({ id, prefix, expires_at: expires }) => (
            <div key={id}>
              <code>{prefix}…</code>{' '}
              {expires && (
                <>
                  expires <Time value={expires} />
                </>
              )}
            </div>
          ))}
        </div>
      ),
      meta: { min: 9, grow: 2 },
    }),
    column.display({
      header: 'Actions',
      cell: ({ row: { original: client } }) =>
        client.enabled && (
          <span className="row-actions">
            <Button onClick={() => actions.rotate(client.id)}>Rotate the secret</Button>
            <Button kind="danger" onClick={() => actions.disable(client)}>
              Disable …
            </Button>
          </span>
        ),
      meta: { min: 17 },
    }),
  ]);
}

export function ApiClients() {
  const [secret, setSecret] = useState<{ id: string; secret: string }>();
  const [confirming, setConfirming] = useState<Client>();
  const rotate = useMutation({
    mutationFn: (id: string) =>
      take(
        api.POST('/api/v1/api_clients/{client_id}:rotate_secret', { params: { path: { client_id: id } }, body: {} }),
      ),
    onSuccess: ({ api_client: { id }, client_secret }) => setSecret({ id, secret: client_secret }),
  });
  const disable = useMutation({
    mutationFn: (id: string) =>
      take(api.POST('/api/v1/api_clients/{client_id}:disable', { params: { path: { client_id: id } } })),
  });
  const columns = useMemo(() => columnsFor({ rotate: rotate.mutate, disable: setConfirming }), [rotate.mutate]);
  return (
    <Card title="API clients">
      <List
        label="API clients"
        queryKey={['settings', 'clients']}
        load={async (token) => {
          const query = { page_size: 100, ...(token !== undefined && { page_token: token }) };
          const page = await take(api.GET('/api/v1/api_clients', { params: { query } }));
          return { rows: page.api_clients, next: page.next_page_token, total: page.total_size };
        }}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<p className="muted">No client has been created yet.</p>}
        wraps
      />
      <Trouble error={rotate.error ?? disable.error} />
      {secret && (
        <div className="stack" role="status">
          <p>
            The secret of <code>{secret.id}</code>, shown once:
          </p>
          <Copy text={secret.secret} label="the secret" block />
        </div>
      )}
      <NewClient onMade={(id, made) => setSecret({ id, secret: made })} />
      {confirming && (
        <Confirm
          title={`Disable ${confirming.name}?`}
          action="Disable"
          onClose={() => setConfirming(undefined)}
          onConfirm={() => {
            disable.mutate(confirming.id);
            setConfirming(undefined);
          }}
        >
          <p>Its tokens are revoked immediately. This cannot be undone.</p>
        </Confirm>
      )}
    </Card>
  );
}

function NewClient({ onMade }: { onMade(id: string, secret: string): void }) {
  const create = useMutation({
    mutationFn: (body: { name: string; scopes: Scope[] }) => take(api.POST('/api/v1/api_clients', { body })),
    onSuccess: ({ api_client: { id }, client_secret }) => onMade(id, client_secret),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    create.mutate({ name: String(form.get('name')), scopes: [...(SCOPES[String(form.get('kind'))] ?? [])] });
  };
  return (
    <form className="line-form" onSubmit={submit}>
      <Field label="New client">
        {(id) => <input id={id} name="name" required maxLength={100} placeholder="Support agent" />}
      </Field>
      <Field label="For">
        {(id) => (
          <select id={id} name="kind" data-field="scopes">
            {Object.keys(SCOPES).map((kind) => (
              <option key={kind}>{kind}</option>
            ))}
          </select>
        )}
      </Field>
      <Button type="submit" disabled={create.isPending}>
        Create
      </Button>
      <Trouble error={create.error} />
    </form>
  );
}
