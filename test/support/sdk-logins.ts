import * as v2 from '@modelcontextprotocol/client';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { TestBrowser } from './browser.ts';
import { ADA, allow, type LoginWorld, loginRequestOf, REDIRECT_URI } from './mcp-login.ts';

/** The data that a client stores of a login: the part of OAuthClientProvider that both versions of the SDK use. */
export class KeptLogin {
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

/** A client that has connected. */
export interface Connected {
  callTool(call: { name: string; arguments: object }): Promise<object>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  close(): Promise<void>;
}

/** How a client of one major version of the SDK logs in. */
export interface Line {
  /** Connects, or rejects because the user has to log in. */
  connect(url: URL, login: KeptLogin): Promise<Connected>;
  finish(url: URL, login: KeptLogin, callback: URLSearchParams): Promise<void>;
  isLoginNeeded(error: unknown): boolean;
}

const INFO = { name: 'test', version: '1' };

export const LINES: Record<string, Line> = {
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

/** Acts as the user in the browser. @returns the parameters of the redirect to the client */
export async function logInAt(world: LoginWorld, address: URL): Promise<URLSearchParams> {
  const browser = new TestBrowser();
  const { body } = await world.complete(loginRequestOf(await browser.open(address.href)), ADA);
  const isClient = ({ origin }: URL) => origin === new URL(REDIRECT_URI).origin;
  const page = await browser.follow(await browser.open(body.continue_url), isClient);
  const sent = page.location ? page : await allow(browser, page);
  return new URL(sent.location as string).searchParams;
}
