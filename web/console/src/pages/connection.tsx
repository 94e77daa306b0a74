import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { currentSession, may } from '../session.ts';
import { words } from '../ui/format.ts';
import { Button, Card, Confirm, Copy, Facts, Field, Loading, Page, Status, Time, Trouble } from '../ui/parts.tsx';

type Connection = Schemas['ConnectionConfiguration'];

export function ConnectionPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { data, error, isPending } = useQuery({
    queryKey: ['connection', id],
    queryFn: () => take(api.GET('/api/v1/connections/{connection_id}', { params: { path: { connection_id: id } } })),
  });
  if (isPending) return <Loading />;
  if (error)
    return (
      <Page title="Connection">
        <Trouble error={error} />
      </Page>
    );
  const { connection } = data;
  const isReady = connection.status === 'COMPLETED';
  return (
    <Page title={connection.key_id} lead={<code>{connection.id}</code>} actions={<Actions connection={connection} />}>
      <p className="advice">
        {connection.enabled ? (
          <Status value={connection.status} label={isReady ? 'Ready' : undefined} />
        ) : (
          <Status value="DISABLED" />
        )}{' '}
        {adviceFor(connection)}
      </p>
      {connection.type === 'OAUTH' && <Client connection={connection} />}
      {isReady && connection.enabled && (
        <Card title="Test it">
          <p>Connect an account of yours, as a user would.</p>
          <p>
            <Link className="button primary" to="/accounts" search={{ connect: connection.key_id }}>
              Connect an account
            </Link>
          </p>
        </Card>
      )}
      <Card title="Facts">
        <Facts
          rows={[
            ['Provider', connection.provider_key],
            ['Type', words(connection.type)],
            ['Users are verified', connection.verification_mode === 'REQUIRED' ? 'Yes' : 'No'],
            ['Allowed tools', connection.allowed_tools === null ? 'All' : connection.allowed_tools.join(', ')],
            [
              'Allowed addresses',
              connection.allowed_addresses === null ? 'Those of the provider' : connection.allowed_addresses.join(', '),
            ],
            ['Organization', connection.organization_name || connection.organization_id],
            ['Created', <Time key="created" value={connection.created_at} />],
            ['Changed', <Time key="changed" value={connection.updated_at} />],
          ]}
        />
        <div className="stack">
          <h3>MCP server</h3>
          <Copy text={connection.mcp_server_url} label="the address of the MCP server" />
        </div>
        <p>
          <Link to="/accounts" search={{ provider: connection.provider_key }}>
            Accounts
          </Link>{' '}
          ·{' '}
          <Link to="/tools" search={{ connector: connection.provider_key }}>
            Tools
          </Link>
        </p>
      </Card>
    </Page>
  );
}

function adviceFor({ status, enabled, missing_settings: missing }: Connection): string {
  if (!enabled) return 'Nobody can connect, and no tool runs, until it is enabled.';
  if (status === 'COMPLETED') return 'Users can connect their accounts.';
  return missing.length > 0 ? `Still missing: ${missing.map(words).join(', ')}.` : 'It is not complete yet.';
}

/** The client that the operator has registered at the provider: the callback to copy, the id, the secret and the scopes. */
function Client({ connection }: { connection: Connection }) {
  const callback = `${currentSession()?.environment.baseUrl}/oauth/callback/${connection.id}`;
  const provider = useQuery({
    queryKey: ['providers', 'one', connection.provider_key],
    queryFn: () => {
      const path = { identifier: connection.provider_key };
      return take(api.GET('/api/v1/providers/{identifier}', { params: { path } }));
    },
  });
  const save = useMutation({
    mutationFn: (body: { client_id: string | null; client_secret?: string; scopes: string[] }) =>
      take(
        api.PUT('/api/v1/connections/{connection_id}', { params: { path: { connection_id: connection.id } }, body }),
      ),
  });
  const pattern = provider.data?.provider.auth_patterns.find(({ type }) => type === 'OAUTH');
  const offered = (
    pattern && 'oauth_config' in pattern && pattern.oauth_config && 'available_scopes' in pattern.oauth_config
      ? pattern.oauth_config.available_scopes
      : []
  ) as Schemas['OAuthScope'][];
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const secret = String(form.get('client_secret'));
    const more = String(form.get('more'))
      .split(/[\s,]+/)
      .filter(Boolean);
    save.mutate({
      client_id: String(form.get('client_id')).trim() || null,
      ...(secret && { client_secret: secret }),
      scopes: [...form.getAll('scope').map(String), ...more],
    });
  };
  const others = connection.scopes.filter((scope) => !offered.some((each) => each.scope === scope));
  return (
    <Card title="Step 3 of 3: your client at the application">
      <ol className="stack">
        <li className="stack">
          <h3>1. Register an application at {provider.data?.provider.display_name ?? connection.provider_key}</h3>
          <p>Enter this address there as the callback, also called redirect URI:</p>
          <Copy text={callback} label="the callback address" block />
        </li>
        <li className="stack">
          <h3>2. Enter its client here</h3>
          <form className="stack" onSubmit={submit} key={connection.updated_at}>
            <Field label="Client id">
              {(id) => (
                <input
                  id={id}
                  name="client_id"
                  autoComplete="off"
                  maxLength={500}
                  defaultValue={connection.client_id}
                />
              )}
            </Field>
            <Field
              label="Client secret"
              hint={
                connection.has_client_secret
                  ? 'A secret is stored. Leave the field empty to keep it.'
                  : 'It is stored encrypted and is never shown again.'
              }
            >
              {(id) => (
                <input id={id} name="client_secret" type="password" autoComplete="new-password" maxLength={4000} />
              )}
            </Field>
            <fieldset className="plain-fieldset">
              <legend>Scopes that users are asked for</legend>
              {offered.map(({ scope, display_name: name, description, required }) => (
                <label className="check" key={scope}>
                  <input
                    type="checkbox"
                    name="scope"
                    value={scope}
                    defaultChecked={
                      connection.scopes.length === 0 ? required === true : connection.scopes.includes(scope)
                    }
                  />
                  <span>
                    {name ?? scope} <code className="muted">{scope}</code>
                    {description && <span className="hint"> {description}</span>}
                  </span>
                </label>
              ))}
            </fieldset>
            <Field label="Other scopes" hint="Separated by spaces.">
              {(id) => <input id={id} name="more" defaultValue={others.join(' ')} />}
            </Field>
            <Trouble error={save.error} />
            <div className="actions">
              <Button type="submit" kind="primary" disabled={save.isPending || !may('connections:write')}>
                Save
              </Button>
              <span role="status">{save.isSuccess && 'Saved.'}</span>
            </div>
          </form>
        </li>
      </ol>
    </Card>
  );
}

function Actions({ connection: { id, enabled } }: { connection: Connection }) {
  const navigate = useNavigate();
  const [asks, setAsks] = useState(false);
  const params = { params: { path: { connection_id: id } } };
  const toggle = useMutation({
    mutationFn: () =>
      take(
        enabled
          ? api.POST('/api/v1/connections/{connection_id}:disable', params)
          : api.POST('/api/v1/connections/{connection_id}:enable', params),
      ),
  });
  const remove = useMutation({
    mutationFn: () => take(api.DELETE('/api/v1/connections/{connection_id}', params)),
    onSuccess: () => void navigate({ to: '/connections' }),
  });
  if (!may('connections:write')) return null;
  return (
    <>
      <Button onClick={() => toggle.mutate()}>{enabled ? 'Disable' : 'Enable'}</Button>
      <Button kind="danger" onClick={() => setAsks(true)}>
        Delete …
      </Button>
      <Trouble error={toggle.error ?? remove.error} />
      {asks && (
        <Confirm
          title="Delete this connection?"
          action="Delete"
          onClose={() => setAsks(false)}
          onConfirm={() => {
            setAsks(false);
            remove.mutate();
          }}
        >
          <p>A connection with accounts cannot be deleted. Delete its accounts first.</p>
        </Confirm>
      )}
    </>
  );
}
