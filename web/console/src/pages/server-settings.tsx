import { useQuery } from '@tanstack/react-query';
import { api, type Schemas, take } from '../api.ts';
import { columnsOf } from '../ui/grid.tsx';
import { Card, Facts, Loading, Status, Time, Trouble } from '../ui/parts.tsx';
import { Table } from '../ui/table.tsx';

const column = columnsOf<Schemas['EncryptionKey']>();

const KEY_COLUMNS = column.columns([
  column.accessor('id', {
    header: 'Key',
    cell: ({ getValue }) => <code>{getValue()}</code>,
    meta: { min: 8, grow: 2 },
  }),
  column.accessor('state', {
    header: 'State',
    cell: ({ getValue }) => <Status value={getValue()} />,
    meta: { min: 7, grow: 1 },
  }),
  column.accessor('created_at', {
    header: 'In use since',
    cell: ({ getValue }) => <Time value={getValue()} />,
    meta: { min: 7, grow: 1 },
  }),
]);

/** The protections of the environment that are configured on the server. They are read-only here. */
export function ServerSettings({ kind }: { kind: Schemas['Environment']['kind'] }) {
  const { data, error } = useQuery({
    queryKey: ['settings', 'server'],
    queryFn: () => take(api.GET('/api/v1/server_settings')),
  });
  if (error) return <Trouble error={error} />;
  if (!data) return <Loading />;
  const { encryption_keys: keys, console_issuer: issuer, ...egress } = data.server_settings;
  const isProduction = kind === 'PRODUCTION';
  return (
    <Card title="Set on the server">
      <p className="muted">
        These settings are variables and files of the server, so that nobody can weaken them with a token. Here they can
        only be read.
      </p>
      <h3>Addresses that may be called</h3>
      <p>
        Public addresses by https on port 443
        {isProduction || egress.allowed_addresses.length === 0 ? ' only.' : ', and:'}
      </p>
      {egress.allowed_addresses.length > 0 && (
        <ul className="codes">
          {egress.allowed_addresses.map((address) => (
            <li key={address}>
              <code>{address}</code>
            </li>
          ))}
        </ul>
      )}
      {!isProduction && (
        <p className="hint">
          The variable <code>VALETKEY_EGRESS_ALLOW</code> lists addresses of this machine that may be called too, such
          as <code>127.0.0.1:9900</code>.
        </p>
      )}
      {egress.endpoint_overrides.length > 0 && (
        <>
          <p>Calls to these origins are sent to this machine instead, for tests:</p>
          <ul className="codes">
            {egress.endpoint_overrides.map(({ origin, target }) => (
              <li key={origin}>
                <code>{origin}</code> to <code>{target}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>Keys that encrypt credentials</h3>
      <Table label="Keys that encrypt credentials" columns={KEY_COLUMNS} rows={keys} rowKey={({ id }) => id} />
      <p className="hint">{adviceFor(keys)}</p>
      <h3>Login of operators</h3>
      <Facts
        rows={[
          [
            'OpenID provider of the company',
            issuer === null ? 'None: one-time addresses only' : <code key="issuer">{issuer}</code>,
          ],
        ]}
      />
    </Card>
  );
}

function adviceFor(keys: readonly Schemas['EncryptionKey'][]): React.ReactNode {
  if (keys.some(({ state }) => state === 'STANDBY'))
    return (
      <>
        A rotation has begun. The new key becomes active when every server has it: run <code>valetkey keys rotate</code>{' '}
        again.
      </>
    );
  if (keys.some(({ state }) => state === 'OLD'))
    return (
      <>
        Old keys decrypt what was encrypted before a rotation. <code>valetkey keys list</code> counts those records;{' '}
        <code>valetkey keys retire</code> removes a key without any.
      </>
    );
  return (
    <>
      <code>valetkey keys rotate</code> replaces the key while the server runs.
    </>
  );
}
