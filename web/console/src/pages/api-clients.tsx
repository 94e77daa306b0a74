import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { Button, Card, Confirm, Copy, Field, Loading, Status, Time, Trouble, WideTable } from '../ui/parts.tsx';

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

export function ApiClients() {
  const { data, error } = useQuery({
    queryKey: ['settings', 'clients'],
    queryFn: () => take(api.GET('/api/v1/api_clients', { params: { query: { page_size: 100 } } })),
  });
  const [secret, setSecret] = useState<{ id: string; secret: string }>();
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
  const [confirming, setConfirming] = useState<Client>();
  if (!data) return error ? <Trouble error={error} /> : <Loading />;
  return (
    <Card title="API clients">
      <WideTable label="API clients" heads={['Name', 'State', 'Scopes', 'Secrets', 'Actions']}>
        {data.api_clients.map((client) => (
          <tr key={client.id}>
            <td>
              <bdi>{client.name}</bdi>
              <br />
              <code className="muted">{client.id}</code>
            </td>
            <td>
              <Status value={client.enabled ? 'ENABLED' : 'DISABLED'} />
            </td>
            <td>
              <details>
                <summary>{client.scopes.length === 1 ? '1 scope' : `${client.scopes.length} scopes`}</summary>
                {client.scopes.join(', ')}
              </details>
            </td>
            <td>
              {client.secrets.map(({ id, prefix, expires_at: expires }) => (
                <div key={id}>
                  <code>{prefix}…</code>{' '}
                  {expires && (
                    <>
                      expires <Time value={expires} />
                    </>
                  )}
                </div>
              ))}
            </td>
            <td>
              {client.enabled && (
                <div className="actions">
                  <Button onClick={() => rotate.mutate(client.id)}>Rotate the secret</Button>
                  <Button kind="danger" onClick={() => setConfirming(client)}>
                    Disable …
                  </Button>
                </div>
              )}
            </td>
          </tr>
        ))}
      </WideTable>
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
          <select id={id} name="kind">
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
