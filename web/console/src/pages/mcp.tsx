import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useMemo, useRef, useState } from 'react';
import { api, type Schemas, take } from '../api.ts';
import { currentSession, may } from '../session.ts';
import { columnsOf } from '../ui/grid.tsx';
import { List } from '../ui/list.tsx';
import { Button, Card, Confirm, Copy, Empty, Field, Page, Time, Trouble } from '../ui/parts.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { ServerForm } from './mcp-server-form.tsx';

interface Server {
  id: string;
  name: string;
  url: string;
  /** Set if the server is an MCP config, which can be changed and deleted here. */
  config?: Schemas['McpConfig'];
}

export function McpPage() {
  const servers = useQuery({ queryKey: ['mcp', 'connections', 'servers'], queryFn: loadServers });
  const [chosen, setChosen] = useState('');
  const server = servers.data?.find(({ id }) => id === chosen) ?? servers.data?.[0];
  return (
    <Page title="MCP" lead="Each server offers the tools of one or more connections to MCP clients.">
      <Trouble error={servers.error} />
      {servers.data?.length === 0 && (
        <Empty
          title="There is no MCP server yet"
          action={
            may('connections:write') && (
              <Link className="button primary" to="/connections/new">
                Set up a connection
              </Link>
            )
          }
        >
          Each connection is an MCP server. A server with the tools of several connections is created here.
        </Empty>
      )}
      {server && servers.data && (
        <Card title="Servers">
          <Field label="Server">
            {(id) => (
              <select id={id} value={server.id} onChange={({ target }) => setChosen(target.value)}>
                {servers.data.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Copy text={server.url} label="the address" />
          <Tabs
            label="Add to"
            panels={Object.fromEntries(Object.entries(CLIENTS).map(([name, show]) => [name, () => show(server)]))}
          />
          <SessionToken key={server.id} server={server} />
          {server.config && may('connections:write') && (
            <>
              <details key={`${server.id} ${server.config.updated_at}`}>
                <summary>Change this server</summary>
                <ServerForm config={server.config} />
              </details>
              <DeleteServer server={server} />
            </>
          )}
        </Card>
      )}
      {server && may('connections:write') && (
        <Card title="New server">
          <ServerForm />
        </Card>
      )}
      <Grants />
    </Page>
  );
}

async function loadServers(): Promise<Server[]> {
  const [{ configs }, { connections }] = await Promise.all([
    take(api.GET('/api/v1/mcp/configs', { params: { query: { page_size: 100 } } })),
    take(api.GET('/api/v1/connections', { params: { query: { page_size: 100, status: 'COMPLETED' } } })),
  ]);
  return [
    ...configs.map((config) => ({ id: config.id, name: config.name, url: config.mcp_server_url, config })),
    ...connections.map(({ id, key_id: name, mcp_server_url: url }) => ({ id, name, url })),
  ];
}

const LOGIN = 'The client then opens a login. Your application says who the user is (setting “MCP login address”).';

/** How each client adds a server. */
const CLIENTS: Record<string, (server: Server) => React.ReactNode> = {
  Claude: ({ url }) => (
    <div className="stack">
      <p>In Claude: Settings, Connectors, “Add custom connector”. Enter the address. {LOGIN}</p>
      <p>Claude Code:</p>
      <Copy text={`claude mcp add --transport http valetkey ${url}`} label="the command for Claude Code" block />
    </div>
  ),
  ChatGPT: () => (
    <p>
      In ChatGPT: Settings, Apps and connectors, Advanced, turn on developer mode, then “Create”. Enter the address.{' '}
      {LOGIN}
    </p>
  ),
  Cursor: (server) => (
    <div className="stack">
      <p>
        Add this to <code>.cursor/mcp.json</code>. {LOGIN}
      </p>
      <Copy
        text={JSON.stringify({ mcpServers: { [slug(server)]: { url: server.url } } }, null, 2)}
        label="the settings for Cursor"
        block
      />
    </div>
  ),
  'VS Code': (server) => (
    <div className="stack">
      <p>
        Add this to <code>.vscode/mcp.json</code>. {LOGIN}
      </p>
      <Copy
        text={JSON.stringify({ servers: { [slug(server)]: { type: 'http', url: server.url } } }, null, 2)}
        label="the settings for VS Code"
        block
      />
    </div>
  ),
};

function slug({ name }: Server): string {
  return (
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '') || 'valetkey'
  );
}

/** A token with which a client acts for one user without a login. */
function SessionToken({ server }: { server: Server }) {
  const create = useMutation({
    mutationFn: (user: { user_id: string; identifier: string }) =>
      take(api.POST('/api/v1/mcp/session_tokens', { body: { server_id: server.id, ...user } })),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    create.mutate({ user_id: String(form.get('user_id')), identifier: String(form.get('identifier')) });
  };
  if (!may('tools:execute')) return null;
  const operator = currentSession()?.operator;
  return (
    <details>
      <summary>A token for one user, to try the server without a login</summary>
      <form className="stack" onSubmit={submit}>
        <Field label="User id">
          {(id) => <input id={id} name="user_id" required maxLength={255} defaultValue={operator} />}
        </Field>
        <Field label="Identifier of the account">
          {(id) => <input id={id} name="identifier" required maxLength={255} defaultValue={operator} />}
        </Field>
        <Trouble error={create.error} />
        <div className="actions">
          <Button type="submit" disabled={create.isPending}>
            Create a token
          </Button>
        </div>
      </form>
      {create.data && (
        <div className="stack after" role="status">
          <p>The token is shown once, is valid for an hour, and ends with your session.</p>
          <Copy text={create.data.token} label="the token" block />
        </div>
      )}
    </details>
  );
}

function DeleteServer({ server: { id, name } }: { server: Server }) {
  const [isConfirming, setConfirming] = useState(false);
  const remove = useMutation({
    mutationFn: () => take(api.DELETE('/api/v1/mcp/configs/{config_id}', { params: { path: { config_id: id } } })),
  });
  return (
    <div className="actions">
      <Button kind="danger" onClick={() => setConfirming(true)}>
        Delete this server …
      </Button>
      <Trouble error={remove.error} />
      {isConfirming && (
        <Confirm
          title={`Delete ${name}?`}
          action="Delete"
          onClose={() => setConfirming(false)}
          onConfirm={() => {
            setConfirming(false);
            remove.mutate();
          }}
        >
          <p>Clients that use its address can no longer connect.</p>
        </Confirm>
      )}
    </div>
  );
}

const column = columnsOf<Schemas['McpGrant']>();

function grantColumns(revoke: (id: string) => void) {
  return column.columns([
    column.accessor('client.name', {
      header: 'Client',
      cell: ({ getValue }) => <bdi>{getValue()}</bdi>,
      meta: { min: 7.5, grow: 2 },
    }),
    column.accessor('client.redirect_host', { header: 'Returns to', meta: { min: 6.5, grow: 2 } }),
    column.accessor('user.identifier', {
      header: 'User',
      cell: ({ getValue }) => <bdi>{getValue()}</bdi>,
      meta: { min: 7.5, grow: 2 },
    }),
    column.accessor('server_id', { header: 'Server', meta: { min: 6, grow: 2 } }),
    column.accessor('last_used_at', {
      header: 'Last used',
      cell: ({ getValue }) => <Time value={getValue()} />,
      meta: { min: 6, grow: 1 },
    }),
    column.display({
      header: 'Action',
      cell: ({ row: { original } }) =>
        may('accounts:write') && <Button onClick={() => revoke(original.id)}>Revoke</Button>,
      meta: { min: 6 },
    }),
  ]);
}

function Grants() {
  const heading = useRef<HTMLHeadingElement>(null);
  const { mutate, error } = useMutation({
    mutationFn: (id: string) =>
      take(api.POST('/api/v1/mcp/grants/{grant_id}:revoke', { params: { path: { grant_id: id } } })),
    // The heading gets the focus, because the button that had it disappears with its row.
    onSuccess: () => heading.current?.focus(),
  });
  const columns = useMemo(() => grantColumns(mutate), [mutate]);
  return (
    <Card title="Who is logged in" headingRef={heading}>
      <Trouble error={error} />
      <List
        label="Grants"
        queryKey={['mcp', 'grants']}
        load={async (token) => {
          const query = { page_size: 100, ...(token !== undefined && { page_token: token }) };
          const page = await take(api.GET('/api/v1/mcp/grants', { params: { query } }));
          return {
            rows: page.grants,
            next: page.next_page_token,
            total: page.total_size,
            isLowerBound: page.total_size_is_lower_bound,
          };
        }}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<p className="muted">No user has logged in with an MCP client yet.</p>}
      />
    </Card>
  );
}
