import { expect } from 'chai';
import type { EventBody } from '../../core/events/types.ts';
import { createAccount } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { checkEvents } from '../support/events.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { type LinkWorld, startLinkWorld } from '../support/link-world.ts';
import { browserFor, returned, verifyUser, walk } from '../support/links.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const HOUR_MS = 60 * 60 * 1000;

describe('events of accounts and executions', () => {
  let upstream: Upstream;
  let server: TestServer;
  const emitted: EventBody[] = [];

  before(async () => {
    upstream = await startUpstream(({ target }, res) => {
      res.writeHead(target === '/broken' ? 500 : 200, { 'content-type': 'application/json' }).end('{}');
    });
    const keep = {
      accepts: () => true,
      handle: async (_tx: unknown, event: { body(): Promise<EventBody> }) => void emitted.push(await event.body()),
    };
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(KEYED_ORIGIN) },
      overrides: { eventSinks: [checkEvents, keep] },
    });
  });

  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  it('contain an execution as the API shows it, and are not in the audit log', async () => {
    const { id } = await createKeyedAccount(server);
    const paths = { '/fine': 'execution.succeeded', '/broken': 'execution.failed' };
    for (const [path, type] of Object.entries(paths)) {
      const body = { connected_account_id: id, tool_name: 'http_get', tool_input: { path } };
      const answer = await server.call('POST', '/api/v1/execute_tool', { body });
      const executionId = answer.body.execution_id;
      const { body: shown } = await server.call('GET', `/api/v1/executions/${executionId}`);
      const event = emitted.find((one) => one.type.startsWith('execution.') && subjectOf(one) === executionId);
      expect(event?.type, path).to.equal(type);
      expect(event?.data).to.deep.equal({ execution: shown.execution });
      expect(await auditOf(server, executionId)).to.deep.equal([]);
    }
  });

  it('contain an account as the API shows it, without its credentials', async () => {
    const { id } = await createKeyedAccount(server, { key: 'a-key-that-no-event-shows' });
    const { body } = await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
    const event = emitted.find(
      ({ type, data }) =>
        type === 'connected_account.created' && 'connected_account' in data && data.connected_account?.id === id,
    );
    expect(event?.data).to.deep.equal({ connected_account: body.connected_account });
    expect(JSON.stringify(emitted)).not.to.include('a-key-that-no-event-shows');
  });

  it('report a connection that the first account of a connector creates, once', async () => {
    const { id, provider } = await createKeyedAccount(server);
    const { body } = await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
    const connectionId = body.connected_account.connection_id;
    const first = await auditOf(server, connectionId);
    await createAccount(server, { connector: provider.identifier, identifier: 'second', connectedAccount: {} });
    const second = await auditOf(server, connectionId);
    expect([first, second].map((rows) => rows.map(({ action }) => action))).to.deep.equal([
      ['connection.created'],
      ['connection.created'],
    ]);
  });

  it('report each account that is disconnected with its provider', async () => {
    const { id, provider } = await createKeyedAccount(server);
    await server.call('DELETE', `/api/v1/custom-providers/${provider.identifier}`);
    const actions = (await auditOf(server, id)).map(({ action }) => action);
    expect(actions).to.deep.equal(['connected_account.disconnected', 'connected_account.created']);
  });
});

describe('events of links', () => {
  let world: LinkWorld;

  before(async () => {
    world = await startLinkWorld();
  });
  after(() => world.stop());

  const story = async (identifier: string) => (await world.actions(identifier)).reverse();

  it('report a link from its creation to the connected account', async () => {
    const page = await walk(browserFor(world.as), await world.link('ada'));
    expect(await story('ada')).to.deep.equal([
      'connected_account.created',
      'link.created',
      'link.opened',
      'link.completed',
    ]);
    await verifyUser(world.server, returned(page).authRequestId, 'ada');
    expect((await story('ada')).slice(4)).to.deep.equal(['connected_account.connected']);
  });

  it('report that the user declined', async () => {
    await walk(browserFor(world.as), await world.link('grace'), null);
    expect((await story('grace')).slice(2)).to.deep.equal(['link.opened', 'link.denied']);
  });

  it('report nothing when the page of a link is only loaded, as mail scanners do', async () => {
    await browserFor(world.as).open(await world.link('linus'));
    expect((await story('linus')).slice(2)).to.deep.equal([]);
  });

  it('report once that a link expired without being opened', async () => {
    await world.link('alan');
    world.clock.advance(HOUR_MS);
    for (let times = 0; times < 2; times++) await world.server.parts.links.expire();
    expect((await story('alan')).slice(2)).to.deep.equal(['link.expired']);
  });

  it('report that a link expired whose account was deleted', async () => {
    const identifier = 'deleted-meanwhile';
    await world.link(identifier);
    const { body } = await world.server.call('GET', '/api/v1/connected_accounts?page_size=1');
    const { id } = body.connected_accounts[0];
    await world.server.call('POST', '/api/v1/connected_accounts:delete', { body: { id } });
    await world.server.parts.links.expire();
    const actions = (await auditOf(world.server, id)).map(({ action }) => action);
    expect(actions.slice(0, 2)).to.have.members(['link.expired', 'connected_account.deleted']);
  });
});

function subjectOf({ data }: EventBody): string | undefined {
  return 'execution' in data ? data.execution.id : undefined;
}
