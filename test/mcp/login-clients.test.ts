import * as v2 from '@modelcontextprotocol/client';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
import { TestBrowser } from '../support/browser.ts';
import {
  ADA,
  allow,
  callMcp,
  type LoginWorld,
  loginRequestOf,
  REDIRECT_URI,
  startLoginWorld,
} from '../support/mcp-login.ts';

/** What a client stores of a login: the part of OAuthClientProvider that both versions of the SDK use. */
class KeptLogin {
  readonly redirectUrl = REDIRECT_URI;
  readonly clientMetadata = {
    client_name: 'SDK Client',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  readonly clientMetadataUrl?: string;
  // biome-ignore lint/suspicious/noExplicitAny: each line of the SDK has its own types for the same JSON
  information: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  kept: any;
  verifier = '';
  /** The addresses to which the user was sent, in order. */
  readonly sentTo: URL[] = [];

  constructor({ clientMetadataUrl, information }: { clientMetadataUrl?: string; information?: object }) {
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
    this.information = information;
  }

  state = () => 'state-of-the-sdk';
  clientInformation = () => this.information;
  saveClientInformation = (information: object) => {
    this.information = information;
  };
  tokens = () => this.kept;
  saveTokens = (tokens: object) => {
    this.kept = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.sentTo.push(url);
  };
  saveCodeVerifier = (verifier: string) => {
    this.verifier = verifier;
  };
  codeVerifier = () => this.verifier;
  invalidateCredentials = (scope: string) => {
    if (scope === 'all' || scope === 'tokens') this.kept = undefined;
    if (scope === 'all' || scope === 'client') this.information = undefined;
  };
}

interface Connected {
  listTools(): Promise<{ tools: { name: string }[] }>;
  close(): Promise<void>;
}

interface Line {
  /** Connects, or rejects because the user has to log in. */
  connect(url: URL, login: KeptLogin): Promise<Connected>;
  finish(url: URL, login: KeptLogin, callback: URLSearchParams): Promise<void>;
  isLoginNeeded(error: unknown): boolean;
}

const INFO = { name: 'test', version: '1' };

const LINES: Record<string, Line> = {
  'sdk 1': {
    async connect(url, login) {
      const client = new ClientV1(INFO);
      await client.connect(new TransportV1(url, { authProvider: login as never }) as never);
      return client as unknown as Connected;
    },
    finish: (url, login, callback) =>
      new TransportV1(url, { authProvider: login as never }).finishAuth(callback.get('code') ?? ''),
    isLoginNeeded: (error) => error instanceof UnauthorizedError,
  },
  ...Object.fromEntries(
    (['2025-11-25', '2026-07-28'] as const).map((revision): [string, Line] => [
      `client 2 of ${revision}`,
      {
        async connect(url, login) {
          const mode = revision === '2025-11-25' ? ('legacy' as const) : { pin: revision };
          const client = new v2.Client(INFO, { versionNegotiation: { mode } });
          await client.connect(new v2.StreamableHTTPClientTransport(url, { authProvider: login as never }));
          return client as unknown as Connected;
        },
        finish: (url, login, callback) =>
          new v2.StreamableHTTPClientTransport(url, { authProvider: login as never }).finishAuth(callback),
        isLoginNeeded: (error) => error instanceof v2.UnauthorizedError,
      },
    ]),
  ),
};

const WAYS = ['a metadata document', 'registration', 'an id from the administrator'] as const;

describe('clients of the SDKs log in by themselves (X2)', () => {
  let world: LoginWorld;

  beforeEach(async () => {
    world = await startLoginWorld();
  });
  afterEach(() => world.stop());

  async function loginBy(way: (typeof WAYS)[number]): Promise<KeptLogin> {
    if (way === 'a metadata document') return new KeptLogin({ clientMetadataUrl: world.documents.clientId });
    if (way === 'registration') return new KeptLogin({});
    const body = { name: 'SDK Client', redirect_uris: [REDIRECT_URI] };
    const { client } = (await world.server.call('POST', '/api/v1/mcp/clients', { body })).body;
    return new KeptLogin({ information: { client_id: client.id } });
  }

  /** Acts as the user in the browser. @returns the parameters of the redirect to the client */
  async function logIn(address: URL): Promise<URLSearchParams> {
    const browser = new TestBrowser();
    const { body } = await world.complete(loginRequestOf(await browser.open(address.href)), ADA);
    const isClient = ({ origin }: URL) => origin !== world.server.origin;
    const page = await browser.follow(await browser.open(body.continue_url), isClient);
    const sent = page.location ? page : await allow(browser, page);
    return new URL(sent.location as string).searchParams;
  }

  it('a session of the revision 2025-11-25 continues after the user has logged in again', async () => {
    const begin = (token: string, headers: Record<string, string>, method = 'initialize') => {
      const clientInfo = { name: 'test', version: '1' };
      const params = method === 'initialize' ? { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } : {};
      return callMcp(world.server, world.serverId, token, method, params, headers);
    };
    const first = await world.tokens();
    const session = (await begin(first.access_token, {})).headers['mcp-session-id'] as string;
    expect(session).to.be.a('string');
    await world.server.call('POST', '/api/v1/mcp/grants:revoke', { body: ADA });
    const second = await world.tokens();
    const headers = { 'mcp-session-id': session };
    expect((await begin(second.access_token, headers, 'tools/list')).status).to.equal(200);
    const other = await world.tokens({}, { user_id: 'user_eve', identifier: 'eve' });
    expect((await begin(other.access_token, headers, 'tools/list')).status, 'of another user').to.equal(404);
  });

  for (const [name, line] of Object.entries(LINES)) {
    for (const way of WAYS) {
      it(`${name} by ${way}: login, tools, refresh, revocation, and login again`, async () => {
        const url = new URL(world.resource);
        const login = await loginBy(way);
        const connectAgain = async () => {
          const failure = await line.connect(url, login).catch((error: unknown) => error);
          expect(line.isLoginNeeded(failure), String(failure)).to.equal(true);
          await line.finish(url, login, await logIn(login.sentTo.at(-1) as URL));
          return line.connect(url, login);
        };
        const client = await connectAgain();
        const names = (await client.listTools()).tools.map((tool) => tool.name);
        expect(names).to.include('github_list_issues');
        expect(login.kept.refresh_token).to.match(/^vkr_/);

        const before = login.kept.access_token;
        world.clock.advance(15 * 60_000);
        // Another connection, because a client may cache the list of the first one.
        const refreshed = await line.connect(url, login);
        expect((await refreshed.listTools()).tools).to.have.lengthOf(names.length);
        expect(login.kept.access_token, 'it has refreshed').to.not.equal(before);
        expect(login.sentTo, 'without the user').to.have.lengthOf(1);
        await client.close();
        await refreshed.close();

        expect((await world.server.call('POST', '/api/v1/mcp/grants:revoke', { body: ADA })).body.revoked).to.equal(1);
        const again = await connectAgain();
        expect(login.sentTo, 'the user has logged in again').to.have.lengthOf(2);
        expect((await again.listTools()).tools).to.have.lengthOf(names.length);
        await again.close();
      });
    }
  }
});
