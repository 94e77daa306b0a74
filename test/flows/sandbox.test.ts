import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { createDemoUser, type DemoUser, type Page } from '../../scripts/demo/demo-user.ts';
import type { RunningProcess } from '../../scripts/demo/process.ts';
import { startProcess } from '../../scripts/demo/process.ts';
import { CHALLENGE, VERIFIER } from '../support/mcp-login.ts';
import { isOnServer } from '../support/test-engine.ts';
import { ROOT } from './markdown.ts';

describe('make sandbox', () => {
  let sandbox: RunningProcess;
  let app: string;

  before(async () => {
    const env = { SANDBOX_PORT: '0' };
    const args = ['scripts/sandbox.ts', `--engine=${isOnServer() ? 'postgres' : 'sqlite'}`];
    const ready = /^The application +(\S+)[\s\S]*Ctrl-C ends it all/m;
    const started = await startProcess(process.execPath, args, ready, { cwd: ROOT, env });
    sandbox = started.process;
    app = started.match[1] as string;
  });
  after(() => sandbox?.stop());

  it('leads by clicks alone from Connect through consent to a tool call', async () => {
    const ada = await logIn('ada');
    expect(await run(ada, 'acme'), 'before anything is connected').to.include('You have not connected an account yet');
    const done = await ada.follow(await allow(ada, await openConnect(ada, 'acme'), 'alice'));
    expect(done.status, done.text).to.equal(200);
    expect(done.text).to.include('Connected');
    expect(await run(ada, 'acme'))
      .to.include('alice')
      .and.include('plans.txt');
  });

  it('accepts a typed key', async () => {
    const grace = await logIn('grace');
    const form = await openConnect(grace, 'notes');
    const key = /right one is (\S+)/.exec(sandbox.stdout)?.[1] ?? '';
    const done = await grace.follow(await grace.submit(form, { field_api_key: key }));
    expect(done.text).to.include('Connected');
    expect(await run(grace, 'notes')).to.include('Water the plants');
  });

  it('refuses a link that is finished by another user of the application than its own', async () => {
    const mallory = await logIn('mallory');
    const victim = await logIn('victim');
    const page = await openConnect(mallory, 'acme');
    const done = await victim.follow(await allow(victim, await victim.open(page.url), 'victim-at-acme'));
    expect(done.status).to.equal(403);
    expect(done.text).to.include('Not connected');
    expect(await run(mallory, 'acme')).to.include('has not verified yet');
  });

  it('logs a user in for an MCP client that has only the address', async () => {
    const resource = /client one of these addresses[\s\S]*?(http:\S+\/mcp\/\S+)/.exec(sandbox.stdout)?.[1] ?? '';
    const { origin } = new URL(resource);
    const redirect_uri = 'http://127.0.0.1:1/callback';
    const client = { redirect_uris: [redirect_uri], token_endpoint_auth_method: 'none' };
    const json = { 'content-type': 'application/json' };
    const post = (path: string, body: string | URLSearchParams, headers = {}) =>
      fetch(`${origin}${path}`, { method: 'POST', body, headers }).then(
        (response) => response.json() as Promise<Record<string, string>>,
      );
    const { client_id = '' } = await post('/oauth/register', JSON.stringify(client), json);
    const request = { response_type: 'code', client_id, redirect_uri, resource, code_challenge: CHALLENGE };
    const query = new URLSearchParams({ ...request, code_challenge_method: 'S256' });
    const person = createDemoUser();
    const form = await person.follow(await person.open(`${origin}/oauth/authorize?${query}`));
    expect(form.text, 'the application asks who it is').to.include('Log in');
    const consent = await person.follow(await person.submit(form, { user: 'ada' }));
    expect(consent.text).to.include('Allow access?').and.include('ada');
    const sent = await person.submit(consent, { decision: 'allow' });
    const code = new URL(sent.location as string).searchParams.get('code') as string;
    const exchange = { grant_type: 'authorization_code', client_id, code, code_verifier: VERIFIER };
    const { access_token } = await post('/oauth/token', new URLSearchParams(exchange));
    const listed = await fetch(resource, {
      method: 'POST',
      headers: { ...json, accept: 'application/json, text/event-stream', authorization: `Bearer ${access_token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    expect(await listed.text()).to.include('http_get');
  });

  it('ends everything that it has started, and removes its data, also on two signals', async () => {
    const [, valetkey = '', dataDir = ''] = /^Valetkey +(\S+) .*its data: .*?(\S+)\)/m.exec(sandbox.stdout) ?? [];
    expect(existsSync(dataDir)).to.equal(true);
    const stopped = sandbox.stop();
    // The application ends first, before the server ends and the data is removed.
    while (await fetch(app).catch(() => null));
    expect(await Promise.all([stopped, sandbox.stop()])).to.deep.equal([0, 0]);
    expect(existsSync(dataDir)).to.equal(false);
    for (const origin of [app, valetkey]) {
      expect(await fetch(origin).catch(() => 'nobody answers')).to.equal('nobody answers');
    }
  });

  async function logIn(user: string): Promise<DemoUser> {
    const person = createDemoUser();
    await person.follow(await person.submit(await person.open(app), { user }));
    return person;
  }

  async function openConnect(person: DemoUser, connector: string): Promise<Page> {
    return person.follow(await press(person, `/connect/${connector}`));
  }

  async function allow(person: DemoUser, page: Page, login: string): Promise<Page> {
    const signIn = await person.follow(await person.submit(page));
    expect(signIn.text, 'where the provider asks').to.include('Sign in to Acme');
    return person.submit(signIn, { login, answer: 'allow' });
  }

  async function run(person: DemoUser, connector: string): Promise<string> {
    return (await press(person, `/run/${connector}`)).text;
  }

  /** Presses a button of the application's first page. */
  async function press(person: DemoUser, action: string): Promise<Page> {
    const home = await person.open(`${app}/`);
    expect(home.text).to.include(`action="${action}"`);
    return person.submit({ ...home, text: `<form action="${action}">` });
  }
});
