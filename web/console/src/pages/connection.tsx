import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { may } from '../session.ts';
import { FailedPage } from '../ui/failed-page.tsx';
import { typeName, words } from '../ui/format.ts';
import { Button, Card, Confirm, Copy, Facts, Loading, Page, Status, Time, Trouble } from '../ui/parts.tsx';
import { RoleNote } from '../ui/role-note.tsx';
import { ClientOfConnection } from './connection-client.tsx';
import { Doctor } from './connection-doctor.tsx';
import { RequestsOfConnection } from './connection-requests.tsx';

const BACK = { to: '/connections', label: 'All connections' } as const;

type Connection = Schemas['ConnectionConfiguration'];

export function ConnectionPage() {
  const { id } = useParams({ strict: false }) as { id: string };
  const { data, error, isPending } = useQuery({
    queryKey: ['connection', id],
    queryFn: () => take(api.GET('/api/v1/connections/{connection_id}', { params: { path: { connection_id: id } } })),
  });
  if (isPending) return <Loading />;
  if (error) return <FailedPage title="Connection" error={error} back={BACK} />;
  const { connection } = data;
  const isReady = connection.status === 'COMPLETED';
  return (
    <Page
      back={BACK}
      title={connection.key_id}
      lead={<code>{connection.id}</code>}
      actions={<Actions connection={connection} />}
    >
      <p className="advice">
        {connection.enabled ? (
          <Status value={connection.status} label={isReady ? 'Ready' : undefined} />
        ) : (
          <Status value="DISABLED" />
        )}{' '}
        {adviceFor(connection)}
      </p>
      <RoleNote scope="connections:write" action="change connections" />
      {needsClient(connection) && <ClientOfConnection connection={connection} />}
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
      {may('connections:write') && <Doctor connection={connection} />}
      <RequestsOfConnection connection={connection} />
      <Card title="Facts">
        <Facts
          rows={[
            ['Provider', connection.provider_key],
            ['Type', typeName(connection.authorization_type)],
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

/** Whether the connection needs or has a client that the operator registered at the provider. */
function needsClient({ authorization_type: type, client_id: id, missing_settings: missing }: Connection): boolean {
  return type === 'OAUTH' || id !== '' || missing.some((name) => name.startsWith('client_'));
}

function adviceFor({ status, enabled, missing_settings: missing }: Connection): string {
  if (!enabled) return 'No one can connect, and no tool runs, until it is enabled.';
  if (status === 'COMPLETED') return 'Users can connect their accounts.';
  return missing.length > 0 ? `Still missing: ${missing.map(words).join(', ')}.` : 'It is not complete yet.';
}

function Actions({ connection: { id, enabled } }: { connection: Connection }) {
  const navigate = useNavigate();
  const [isConfirming, setConfirming] = useState(false);
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
      <Button kind="danger" onClick={() => setConfirming(true)}>
        Delete …
      </Button>
      <Trouble error={toggle.error ?? remove.error} />
      {isConfirming && (
        <Confirm
          title="Delete this connection?"
          action="Delete"
          onClose={() => setConfirming(false)}
          onConfirm={() => {
            setConfirming(false);
            remove.mutate();
          }}
        >
          <p>A connection with accounts cannot be deleted. Delete its accounts first.</p>
        </Confirm>
      )}
    </>
  );
}
