import { setTimeout as wait } from 'node:timers/promises';
import type { Acme } from './acme.ts';
import { ACME } from './acme.ts';
import type { Api } from './api.ts';
import type { Page } from './demo-user.ts';
import { createDemoUser } from './demo-user.ts';
import { introduceAcme } from './introduce-acme.ts';
import type { Narrator } from './narrator.ts';
import { check } from './narrator.ts';

/**
 * The address where users return to the application. The demo only reads the redirect; nothing listens at this address.
 */
const VERIFY_URL = 'http://127.0.0.1:9/connected';
const IDENTIFIER = 'ada@app.example';
const PATIENCE_MS = 10_000;

interface Stage {
  api: Api;
  narrator: Narrator;
  acme: Acme;
  /** The address of the server. */
  origin: string;
}

/**
 * A user grants access at a provider; the account uses refreshed tokens; disconnecting revokes them at the provider.
 */
export async function playLink({ api, narrator, acme, origin }: Stage): Promise<void> {
  const { step, say } = narrator;
  const person = createDemoUser({ [ACME]: acme.origin });

  await step('Negative control: Acme rejects requests without a valid token', async () => {
    const unknown = await fetch(`${acme.origin}/files`, { headers: { authorization: 'Bearer unknown' } });
    say(`GET ${acme.origin}/files with an unknown token → ${unknown.status}`);
    check(unknown.status === 401, 'Acme returns 401');
  });

  const connector = await step('Describe Acme, and register as its client: each side learns of the other', async () => {
    return introduceAcme(api, acme, origin);
  });

  await step('Say where users may be sent when they are done: this list is the whole choice', () =>
    api.call(200, 'PUT', '/api/v1/environment', { user_verify_urls: [VERIFY_URL] }),
  );

  const link = await step('Ask for a link for a user of the application', async () => {
    const asked = {
      connector,
      user_id: 'ada',
      identifier: IDENTIFIER,
      user_verify_url: VERIFY_URL,
      state: 'from-demo',
    };
    const { body } = await api.call(200, 'POST', '/api/v1/connected_accounts/magic_link', asked);
    say(`  it expires at ${body.expiry}`);
    return body.link as string;
  });

  const signIn = await step('The person opens it: a page says who asks, and for what', async () => {
    const page = await person.open(link);
    say(`${heading(page)}, with what is shared: ${/Read files/.exec(page.text)?.[0]}`);
    check(page.status === 200 && page.text.includes('Read files'), 'the page names the scope in words');
    return person.follow(await person.submit(page));
  });

  const authRequestId = await step(
    'At Acme the person signs in as alice and allows it; the browser comes back',
    async () => {
      say(`${heading(signIn)}, at ${new URL(signIn.url).origin}`);
      const allowed = await person.submit(signIn, { login: 'alice', answer: 'allow' });
      const done = await person.follow(allowed, (url) => url.href.startsWith(VERIFY_URL));
      check(done.location !== undefined, `the browser is sent to the application, and not to: ${heading(done)}`);
      const query = new URL(done.location).searchParams;
      say(`sent to ${VERIFY_URL} with auth_request_id and state=${query.get('state')}`);
      check(query.get('state') === 'from-demo', 'the state comes back');
      return query.get('auth_request_id') as string;
    },
  );

  const id = await step('The grant cannot be used yet', async () => {
    const account = await find();
    check(account.status === 'PENDING_VERIFICATION', 'the account waits to be verified');
    await api.execute(409, account.id, 'http_get', { path: '/files' });
    return account.id;
  });

  const verify = (status: number, identifier: string) =>
    api.call(status, 'POST', '/api/v1/connected_accounts/user/verify', { auth_request_id: authRequestId, identifier });

  await step('Negative control: a different user does not get the account', async () => {
    const { body } = await verify(403, 'mallory@app.example');
    say(`  ${body.code}: ${body.detail}`);
    check(body.code === 'IDENTIFIER_MISMATCH', 'the identifiers differ');
  });

  await step('The application verifies its own user: from now on the account works', async () => {
    await verify(200, IDENTIFIER);
    check((await find()).status === 'ACTIVE', 'the account is ACTIVE');
    await verify(404, IDENTIFIER);
  });

  await step('A tool call goes out with the token that was obtained', async () => {
    const { body } = await api.execute(200, id, 'http_get', { path: '/files' });
    check(body.data.owner === 'alice', 'Acme takes the call for one of alice');
  });

  const old = await step('Let the token run out: Acme gives them for a few seconds', async () => {
    const token = await readToken();
    await until('the token is dead', async () => !(await acme.isAlive(token)));
    say('Acme does not know the token any more');
    return token;
  });

  await step('The same call works: the token was refreshed without asking the user', async () => {
    const before = acme.grants.get('refresh_token') ?? 0;
    const { body } = await api.execute(200, id, 'http_get', { path: '/files' });
    const refreshes = (acme.grants.get('refresh_token') ?? 0) - before;
    say(`refreshes that Acme has seen meanwhile: ${refreshes}`);
    check(body.data.owner === 'alice' && refreshes === 1, 'one refresh, and the call is one of alice');
    check((await readToken()) !== old, 'the account holds another token');
  });

  const last = await readToken();
  await step('Delete the account: what it held is revoked at Acme, and the list says so', async () => {
    await api.call(200, 'POST', '/api/v1/connected_accounts:delete', { id });
    const path = `/api/v1/revocations?connected_account_id=${id}&status=REVOKED`;
    await until('the revocation is done', async () => (await api.read(path)).revocations.length === 1);
    const { body } = await api.call(200, 'GET', path);
    const [{ provider, status, attempts }] = body.revocations;
    say(`  ${JSON.stringify({ provider, status, attempts })}`);
    check(!(await acme.isAlive(last)), 'the token is dead at Acme');
    const refused = await fetch(`${acme.origin}/files`, { headers: { authorization: `Bearer ${last}` } });
    say(`GET ${acme.origin}/files with the old token → ${refused.status}`);
    check(refused.status === 401, 'Acme returns 401');
  });

  async function find(): Promise<{ id: string; status: string }> {
    const query = new URLSearchParams({ identifier: IDENTIFIER });
    return (await api.call(200, 'GET', `/api/v1/connected_accounts?${query}`)).body.connected_accounts[0];
  }

  /** Returns the stored token from the only operation that shows it; it is never printed. */
  async function readToken(): Promise<string> {
    const { connected_account: account } = await api.read(`/api/v1/connected_accounts/auth?id=${id}`);
    return account.authorization_details.oauth_token.access_token;
  }
}

function heading({ text, status }: Page): string {
  return /<h1>([^<]*)/.exec(text)?.[1] ?? `a page with status ${status}`;
}

async function until(claim: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !(await holds()); await wait(100)) {
    check(Date.now() < end, `${claim}, within ${PATIENCE_MS / 1000} s`);
  }
}
