import { expect } from 'chai';
import { MODULES } from '../../core/authorization/registry.ts';
import { createAccount } from '../support/accounts.ts';
import { TestBrowser } from '../support/browser.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { execute } from '../support/execute.ts';
import { accountOf, makeLink, returned, startLinkServer, submitLink, verifyUser } from '../support/links.ts';
import { createProvider } from '../support/providers.ts';
import { leave, ORDERED_ONLY, revocationsOf, startWorker } from '../support/revocations.ts';
import { readBundle, servedContract } from '../support/served-contract.ts';
import type { TestServer } from '../support/server.ts';
import { ticket } from '../support/ticket-type.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const TYPE = 'TICKET';
const APP = 'https://tickets.acme.example';
const PATTERN = { type: TYPE, oauth_config: { token_uri: `${APP}/tickets`, revocation_uri: `${APP}/revoke` } };
const PAIR = { client_id: 'key-1', client_secret: 'secret-of-the-pair' };

/** The contract with one more authorization type, whose patterns look like those of machine clients. */
function contractWithTicket() {
  const contract = readBundle();
  // biome-ignore lint/suspicious/noExplicitAny: a document of every shape
  const { schemas } = contract['components'] as any;
  schemas.AuthorizationType.enum.push(TYPE);
  schemas.CreateConnectionRequest.properties.type.enum.push(TYPE);
  const type = { type: 'string', const: TYPE, enum: [TYPE] };
  const machine = structuredClone(schemas.OAuthM2mPattern);
  schemas.TicketPattern = { ...machine, properties: { ...machine.properties, type } };
  schemas.AuthPattern.oneOf.push({ $ref: '#/components/schemas/TicketPattern' });
  return servedContract(contract);
}

describe('a thirteenth authorization type, added as one module and its name', () => {
  const modules: Record<string, unknown> = MODULES;
  let app: Upstream;
  let server: TestServer;
  let clock: TestClock;
  let connector: string;
  /** The tickets that the provider has issued and not revoked. */
  let alive: Set<string>;
  let isReachable = true;

  before(async () => {
    modules[TYPE] = ticket;
    app = await startUpstream(({ target, headers, body }, res) => {
      if (!isReachable) return void res.destroy();
      if (target === '/tickets') return issue(JSON.parse(body), res);
      if (target === '/revoke') {
        alive.delete(new URLSearchParams(body).get('token') ?? '');
        return json(res, 200, {});
      }
      const isAlive = alive.has(headers['x-ticket'] ?? '');
      return json(res, isAlive ? 200 : 401, { isAlive });
    });
    clock = testClock(Date.now());
    server = await startLinkServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: app.endpointOverride(APP) },
      // The committed contract, which events are checked against, does not contain the type.
      overrides: { now: clock.now, jobs: ORDERED_ONLY, eventSinks: [] },
      contract: contractWithTicket(),
    });
    const proxy = { proxy_enabled: true, proxy_url: APP };
    connector = (await createProvider(server, { auth_patterns: [PATTERN], ...proxy })).identifier;
  });
  after(async () => {
    delete modules[TYPE];
    await server?.stop();
    await app?.stop();
  });
  beforeEach(() => {
    alive = new Set();
    app.requests.length = 0;
  });

  let issued = 0;
  function issue(pair: typeof PAIR, res: Parameters<typeof json>[0]) {
    if (pair.client_secret !== PAIR.client_secret) return json(res, 401, {});
    issued += 1;
    alive.add(`ticket-${issued}`);
    return json(res, 200, { ticket: `ticket-${issued}`, seconds: 600 });
  }

  let made = 0;
  const create = (details: object) => {
    made += 1;
    const connectedAccount = { authorization_details: { static_auth: { details } } };
    return createAccount(server, { connector, identifier: `holder-${made}`, connectedAccount });
  };
  const get = (id: string) => execute(server, id, 'http_get', { path: '/things' });
  const calls = (target: string) => app.requests.filter((request) => request.target === target).length;

  it('is unknown to the contract of the project (negative control)', async () => {
    const plain = await startLinkServer();
    try {
      const body = { display_name: 'Tickets', auth_patterns: [PATTERN] };
      expect((await plain.call('POST', '/api/v1/custom-providers', { body })).status).to.equal(400);
    } finally {
      await plain.stop();
    }
  });

  it('refuses what its module refuses, by the name of the field', async () => {
    const connected_account = { authorization_details: { static_auth: { details: { ...PAIR, client_id: 'a/b' } } } };
    const body = { connector, identifier: 'refused', user_id: 'refused', connected_account };
    const { status, body: problem } = await server.call('POST', '/api/v1/connected_accounts', { body });
    expect(status).to.equal(400);
    expect(problem.errors).to.deep.equal([
      {
        field: 'connected_account.authorization_details.static_auth.details.client_id',
        message: 'must not contain a slash',
      },
    ]);
  });

  it('is created ACTIVE, shown without its secrets, and listed by its name', async () => {
    const { id, status } = await create(PAIR);
    expect(status).to.equal('ACTIVE');
    const { body } = await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
    expect(body.connected_account).to.deep.include({
      authorization_type: TYPE,
      authorization_details: { static_auth: { details: { client_id: PAIR.client_id } } },
    });
    const connections = await server.call('GET', '/api/v1/connections?type=API_KEY');
    expect(connections.body.connections.map((one: { key_id: string }) => one.key_id)).to.deep.equal([connector]);
  });

  it('executes a tool with a ticket that it obtains first, placed as its module says', async () => {
    const { id } = await create(PAIR);
    const { status, text } = await get(id);
    expect(status, text).to.equal(200);
    expect(app.requests.map(({ target }) => target)).to.deep.equal(['/tickets', '/things']);
    expect(app.requests[1]?.headers).to.include({ 'x-ticket': `ticket-${issued}` });
    expect(app.requests[1]?.headers).not.to.have.property('authorization');
  });

  it('previews its requests with the ticket masked', async () => {
    const { id } = await create(PAIR);
    const { body, text } = await execute(server, id, 'http_get', { path: '/things' }, { body: { dry_run: true } });
    expect(body.dry_run_request.headers, text).to.include({ 'x-ticket': '[secret]' });
    expect(text).not.to.include(PAIR.client_secret);
    expect(app.requests).to.deep.equal([]);
  });

  it('refreshes the ticket when it expires, and once when the provider rejects it', async () => {
    const { id } = await create(PAIR);
    await get(id);
    await get(id);
    expect(calls('/tickets')).to.equal(1);
    clock.advance(600_000);
    expect((await get(id)).status).to.equal(200);
    expect(calls('/tickets')).to.equal(2);
    alive.clear();
    clock.advance(60_000);
    expect((await get(id)).status).to.equal(200);
    expect(calls('/tickets')).to.equal(3);
  });

  it('expires when the provider rejects its credentials', async () => {
    const { id } = await create({ ...PAIR, client_secret: 'another' });
    expect((await get(id)).body).to.deep.include({ code: 'ACCOUNT_NOT_ACTIVE' });
    const { body } = await server.call('GET', `/api/v1/connected_accounts/details?id=${id}`);
    expect(body.connected_account.status).to.equal('EXPIRED');
  });

  it('reports that the provider cannot be reached, and keeps the account', async () => {
    const { id } = await create(PAIR);
    isReachable = false;
    try {
      const { status, body, text } = await get(id);
      expect(status, text).to.equal(502);
      expect(body.tool_error.kind).to.equal('upstream_unreachable');
      expect((await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`)).status).to.equal(200);
    } finally {
      isReachable = true;
    }
  });

  it('is connected by a link that asks for its fields', async () => {
    const link = await makeLink(server, { connector, identifier: 'linked', user_id: 'linked' });
    const page = await new TestBrowser().open(link);
    expect(page.text).to.include('>Key id').and.include('>Key secret');
    const { authRequestId } = returned(await submitLink(new TestBrowser(), link, PAIR));
    expect((await verifyUser(server, authRequestId, 'linked')).status).to.equal(200);
    const account = await accountOf(server, 'linked');
    expect(account?.status).to.equal('ACTIVE');
    expect((await get(account?.id ?? '')).status).to.equal(200);
  });

  it('is revoked at the provider when it is deleted', async () => {
    const { id } = await create(PAIR);
    await get(id);
    expect(alive.size).to.equal(1);
    await leave(server, id);
    const worker = startWorker(server);
    await worker.run();
    await worker.stop();
    expect((await revocationsOf(server, id)).map(({ status }) => status)).to.deep.equal(['REVOKED']);
    expect(alive.size).to.equal(0);
  });
});
