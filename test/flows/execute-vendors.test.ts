import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { startEmulatedVendor } from '../support/emulators.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { ReceivedRequest, Upstream } from '../support/upstream.ts';

const SLACK_TOKEN = 'xoxb-1-tokenOfTheBot';
const STRIPE_KEY = 'sk_test_keyOfAcme0001';
const TWILIO = { username: `AC${'a1'.repeat(16)}`, password: 'c0ffee'.repeat(5) };

const carries = (authorization: string) => (request: ReceivedRequest) =>
  request.headers['authorization'] === authorization;

describe('executing the tools of applications with unusual behaviour', () => {
  let slack: Upstream;
  let stripe: Upstream;
  let twilio: Upstream;
  let server: TestServer;

  const account = async (connector: string, authorization_details: Record<string, unknown>) =>
    (await createAccount(server, { connector, connectedAccount: { authorization_details } })).id;

  before(async () => {
    slack = await startEmulatedVendor('slack', {
      seed: { users: [{ name: 'nobody' }, { name: 'bot' }], channels: [{ name: 'general' }, { name: 'random' }] },
      tokens: { [SLACK_TOKEN]: { login: 'bot', scopes: ['chat:write', 'channels:read'] } },
      accepts: carries(`Bearer ${SLACK_TOKEN}`),
    });
    stripe = await startEmulatedVendor('stripe', { accepts: carries(`Bearer ${STRIPE_KEY}`) });
    // This emulator checks credentials itself, so the gate in front of it accepts every request.
    twilio = await startEmulatedVendor('twilio', {
      seed: {
        account: { sid: TWILIO.username, auth_token: TWILIO.password },
        phone_numbers: [{ phone_number: '+15550001111' }],
      },
      accepts: () => true,
    });
    const overrides = [
      slack.endpointOverride('https://slack.com'),
      stripe.endpointOverride('https://api.stripe.com'),
      twilio.endpointOverride('https://api.twilio.com'),
    ];
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides.join(',') } });
  });
  after(async () => {
    await server.stop();
    for (const vendor of [slack, stripe, twilio]) await vendor.stop();
  });

  describe('Slack, which returns 200 for everything', () => {
    const withToken = (access_token: string) => account('slack', { oauth_token: { access_token } });

    it('is refused with a token that was never issued', async () => {
      const answer = await execute(server, await withToken('xoxb-1-never'), 'slack_list_channels');
      expect(answer.body.tool_error).to.include({ kind: 'upstream_auth' });
    });

    it('lists channels and posts a message', async () => {
      const id = await withToken(SLACK_TOKEN);
      const channels = await execute(server, id, 'slack_list_channels');
      expect(channels.status, channels.text).to.equal(200);
      const channel = channels.body.data.find((one: { name: string }) => one.name === 'general').id;
      const message = await execute(server, id, 'slack_send_message', { channel, text: 'Grüße <!here>' });
      expect(message.status, message.text).to.equal(200);
      expect(message.body.data.message.text).to.equal('Grüße <!here>');
    });

    it('treats ok:false as a failure, with the kind of its code', async () => {
      const id = await withToken(SLACK_TOKEN);
      const answer = await execute(server, id, 'slack_send_message', { channel: 'C0NOWHERE', text: 'x' });
      expect(answer.body).to.include({ status: 502, code: 'TOOL_FAILED' });
      expect(answer.body.tool_error).to.deep.include({
        kind: 'upstream_not_found',
        retryable: false,
        upstream_status: 200,
        upstream_body: { ok: false, error: 'channel_not_found' },
      });
      const record = await finishedExecution(server, answer.body.execution_id);
      expect(record).to.include({ status: 'FAILED', error_kind: 'upstream_not_found', upstream_status: 200 });
    });
  });

  describe('Stripe, which takes forms and knows idempotency keys', () => {
    const withKey = (api_key: string) => account('stripe', { static_auth: { details: { api_key } } });

    it('is refused with a key that was never issued', async () => {
      const answer = await execute(server, await withKey('sk_test_never00000'), 'stripe_list_customers');
      expect(answer.body.tool_error).to.include({ kind: 'upstream_auth', upstream_status: 401 });
    });

    it("creates a customer by a form with the execution's id as idempotency key", async () => {
      const id = await withKey(STRIPE_KEY);
      const input = { name: 'Ada & Söhne', email: 'ada@example.com', metadata: { crm_id: '512' } };
      const answer = await execute(server, id, 'stripe_create_customer', input);
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.data).to.include({ name: 'Ada & Söhne', email: 'ada@example.com' });
      const sent = stripe.requests.at(-1) as ReceivedRequest;
      expect(sent.headers).to.include({
        'content-type': 'application/x-www-form-urlencoded',
        'idempotency-key': answer.body.execution_id,
      });
      expect(Object.fromEntries(new URLSearchParams(sent.body))).to.deep.equal({
        name: 'Ada & Söhne',
        email: 'ada@example.com',
        'metadata[crm_id]': '512',
      });
    });

    it('lists pages by its own kind of cursor', async () => {
      const id = await withKey(STRIPE_KEY);
      for (const name of ['One', 'Two', 'Three']) await execute(server, id, 'stripe_create_customer', { name });
      const first = await execute(server, id, 'stripe_list_customers', { limit: 2 });
      const second = await execute(server, id, 'stripe_list_customers', { limit: 2, cursor: first.body.next_cursor });
      expect([first.body.data.length, second.status]).to.deep.equal([2, 200]);
      const after = new URL(stripe.requests.at(-1)?.target ?? '', 'http://x').searchParams.get('starting_after');
      expect(after).to.equal(first.body.data.at(-1).id);
    });

    it('reports a missing object in the words of Stripe', async () => {
      const answer = await execute(server, await withKey(STRIPE_KEY), 'stripe_get_customer', {
        customer_id: 'cus_none',
      });
      expect(answer.body.tool_error).to.include({ kind: 'upstream_not_found', upstream_status: 404 });
      expect(answer.body.tool_error.message).to.include('No such customer');
    });
  });

  describe('Twilio, whose addresses contain the user name', () => {
    const withSecret = (details: Record<string, string>) => account('twilio', { static_auth: { details } });

    it('is refused with a wrong auth token', async () => {
      const id = await withSecret({ ...TWILIO, password: 'deadbeef'.repeat(4) });
      const answer = await execute(server, id, 'twilio_list_messages');
      expect(answer.body.tool_error).to.include({ kind: 'upstream_auth', upstream_status: 401 });
    });

    it('sends a message and reads it back', async () => {
      const id = await withSecret(TWILIO);
      const sent = await execute(server, id, 'twilio_send_message', {
        to: '+15550002222',
        from: '+15550001111',
        body: 'Your code is 1234',
      });
      expect(sent.status, sent.text).to.equal(200);
      expect(twilio.requests.at(-1)?.target).to.equal(`/2010-04-01/Accounts/${TWILIO.username}/Messages.json`);
      const list = await execute(server, id, 'twilio_list_messages');
      expect(list.body.data.map((message: { sid: string }) => message.sid)).to.include(sent.body.data.sid);
    });

    it('shows no password, neither as it is nor in base64', async () => {
      const id = await withSecret(TWILIO);
      const dry = await execute(server, id, 'twilio_list_messages', {}, { body: { dry_run: true } });
      expect(dry.body.dry_run_request.headers.authorization).to.equal('Basic [secret]');
      for (const text of [dry.text, server.logs.join('\n')]) {
        expect(text).not.to.include(TWILIO.password);
        expect(text).not.to.include(Buffer.from(`${TWILIO.username}:${TWILIO.password}`).toString('base64'));
      }
    });
  });
});
