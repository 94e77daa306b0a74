import { expect } from 'chai';
import { expectAllRun } from '../support/emulated-tools.ts';
import { startEmulatedVendor, storeOf } from '../support/emulators.ts';
import { expectRefusal, toolRunner } from '../support/execute.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';

const KEYS = { okta: '00tokenOfTheAdministrator', resend: 're_keyOfAcme0001' };
const TWILIO = { username: `AC${'b2'.repeat(16)}`, password: 'c0ffee'.repeat(5) };
const MESSAGING_SERVICE = `MG${'c3'.repeat(16)}`;

/** Not run here: assigning an application in Okta, which the emulator expects at another address than Okta does. */
describe('tools that the emulator of their platform knows', () => {
  let okta: Upstream;
  let resend: Upstream;
  let twilio: Upstream;
  let server: TestServer;

  before(async () => {
    okta = await startEmulatedVendor('okta', {
      seed: {
        users: [{ okta_id: '00uGrace', login: 'grace@example.com', first_name: 'Grace', last_name: 'Hopper' }],
        apps: [{ okta_id: '0oaPayroll', name: 'payroll', label: 'Payroll' }],
        app_assignments: [{ app_okta_id: '0oaPayroll', user_okta_id: '00uGrace' }],
      },
      tokens: { [KEYS.okta]: { login: 'grace@example.com', scopes: [] } },
      accepts: ({ headers }) => headers['authorization'] === `SSWS ${KEYS.okta}`,
    });
    resend = await startEmulatedVendor('resend', {
      accepts: ({ headers }) => headers['authorization'] === `Bearer ${KEYS.resend}`,
      refusal: { status: 400, body: { statusCode: 400, name: 'validation_error', message: 'API key is invalid' } },
    });
    // This emulator checks credentials itself, so the gate in front of it accepts every request.
    twilio = await startEmulatedVendor('twilio', {
      seed: {
        account: { sid: TWILIO.username, auth_token: TWILIO.password },
        phone_numbers: [{ phone_number: '+15550001111' }],
        messaging_services: [{ sid: MESSAGING_SERVICE, friendly_name: 'Reminders', phone_numbers: ['+15550001111'] }],
      },
      accepts: () => true,
    });
    const overrides = [
      okta.endpointOverride('https://acme.okta.com'),
      resend.endpointOverride('https://api.resend.com'),
      twilio.endpointOverride('https://api.twilio.com'),
    ];
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides.join(',') } });
  });
  after(async () => {
    await server.stop();
    for (const vendor of [okta, resend, twilio]) await vendor.stop();
  });

  const withDetails = (details: Record<string, string>) => ({ authorization_details: { static_auth: { details } } });

  it('work in Okta, from a new colleague to her leaving', async () => {
    const api_config = { subdomain: 'acme' };
    await expectRefusal(
      server,
      'okta',
      { ...withDetails({ api_key: '00tokenThatWasNeverIssued' }), api_config },
      'list_users',
    );
    const ran = new Set<string>();
    const run = await toolRunner(server, 'okta', { ...withDetails({ api_key: KEYS.okta }), api_config }, ran);
    const stored = storeOf(okta, `SSWS ${KEYS.okta}`, '/api/v1');

    const profile = { first_name: 'Ada', last_name: 'Byron', email: 'ada@example.com', login: 'ada@example.com' };
    const user_id = (await run('create_user', { ...profile, activate: false })).id;
    const user = () => stored(`/users/${user_id}`);
    expect(await user()).to.deep.include({ status: 'STAGED' });
    await run('activate_user', { user_id, send_email: false });
    expect((await user()).status).to.equal('ACTIVE');
    await run('update_user', { user_id, last_name: 'Lovelace' });
    expect((await user()).profile).to.include({ firstName: 'Ada', lastName: 'Lovelace', login: 'ada@example.com' });
    expect((await run('get_user', { user_id })).profile).to.include({ lastName: 'Lovelace' });
    expect(ids(await run('list_users', { q: 'lovelace' }))).to.deep.equal([user_id]);

    const group_id = (await run('create_group', { name: 'Contractors', description: 'From outside' })).id;
    const { profile: group } = await stored(`/groups/${group_id}`);
    expect(group).to.deep.equal({ name: 'Contractors', description: 'From outside' });
    expect((await run('get_group', { group_id })).profile).to.deep.equal(group);
    expect(ids(await run('list_groups', { q: 'contr' }))).to.deep.equal([group_id]);
    await run('add_group_member', { group_id, user_id });
    expect(ids(await stored(`/groups/${group_id}/users`))).to.deep.equal([user_id]);
    expect(ids(await run('list_group_members', { group_id }))).to.deep.equal([user_id]);
    expect(ids(await run('list_user_groups', { user_id }))).to.deep.equal([group_id]);
    await run('remove_group_member', { group_id, user_id });
    expect(await stored(`/groups/${group_id}/users`)).to.deep.equal([]);
    await run('delete_group', { group_id });
    expect(await stored(`/groups/${group_id}`)).to.include({ errorCode: 'E0000007' });

    const app_id = '0oaPayroll';
    expect(ids(await run('list_apps', { q: 'payroll' }))).to.deep.equal([app_id]);
    expect(await run('get_app', { app_id })).to.include({ label: 'Payroll', status: 'ACTIVE' });
    expect(ids(await run('list_app_users', { app_id }))).to.deep.equal(['00uGrace']);
    await run('remove_app_from_user', { app_id, user_id: '00uGrace' });
    expect(await stored(`/apps/${app_id}/users`)).to.deep.equal([]);

    await run('suspend_user', { user_id });
    expect((await user()).status).to.equal('SUSPENDED');
    await run('unsuspend_user', { user_id });
    expect((await user()).status).to.equal('ACTIVE');
    await run('deactivate_user', { user_id });
    expect((await user()).status).to.equal('DEPROVISIONED');
    expectAllRun('okta', ran);
  });

  it('work in Resend, from a verified domain to an e-mail that is not sent', async () => {
    await expectRefusal(server, 'resend', withDetails({ api_key: 're_keyThatWasNeverIssued' }), 'list_emails', 400);
    const ran = new Set<string>();
    const run = await toolRunner(server, 'resend', withDetails({ api_key: KEYS.resend }), ran);
    const stored = storeOf(resend, `Bearer ${KEYS.resend}`);

    const domain_id = (await stored('/domains', { name: 'acme.example' })).id;
    expect(await run('list_domains')).to.have.nested.property('[0].status', 'pending');
    await run('verify_domain', { domain_id });
    expect(await stored(`/domains/${domain_id}`)).to.include({ status: 'verified' });
    const { name, records } = await run('get_domain', { domain_id });
    expect([name, ...records.map(({ status }: { status: string }) => status)]).to.deep.equal([
      'acme.example',
      'verified',
      'verified',
      'verified',
    ]);

    const mail = { from: 'Acme <hello@acme.example>', to: ['ada@example.com'], subject: 'Grüße', text: 'Hello Ada' };
    const { id: sent } = await run('send_email', { ...mail, reply_to: ['help@acme.example'] });
    const reply_to = ['help@acme.example'];
    expect(await stored(`/emails/${sent}`)).to.deep.include({ ...mail, reply_to, status: 'delivered' });
    expect(await run('get_email', { email_id: sent })).to.deep.include(mail);
    const { data } = await run('send_batch', { emails: [mail, { ...mail, subject: 'Second' }] });
    expect(await stored(`/emails/${data[1].id}`)).to.include({ subject: 'Second' });
    const { id: email_id } = await run('send_email', { ...mail, scheduled_at: '2030-12-01T08:00:00Z' });
    expect(await stored(`/emails/${email_id}`)).to.include({ scheduled_at: '2030-12-01T08:00:00Z' });
    await run('cancel_email', { email_id });
    expect(await stored(`/emails/${email_id}`)).to.include({ status: 'canceled' });
    expect(ids(await run('list_emails'))).to.have.members([sent, ...ids(data), email_id]);
    expectAllRun('resend', ran);
  });

  it('work in Twilio, for messages and calls', async () => {
    await expectRefusal(server, 'twilio', withDetails({ ...TWILIO, password: 'deadbeef'.repeat(4) }), 'list_calls');
    const ran = new Set<string>();
    const run = await toolRunner(server, 'twilio', withDetails(TWILIO), ran);
    const basic = Buffer.from(`${TWILIO.username}:${TWILIO.password}`).toString('base64');
    const stored = storeOf(twilio, `Basic ${basic}`, `/2010-04-01/Accounts/${TWILIO.username}`);
    const sids = (list: { sid: string }[]) => list.map(({ sid }) => sid);

    const [number] = await run('list_phone_numbers');
    const [from, to] = [number.phone_number, '+15550002222'];
    expect(from).to.equal('+15550001111');
    const { sid: message_sid } = await run('send_message', { to, from, body: 'Your code is 1234' });
    expect(await stored(`/Messages/${message_sid}.json`)).to.include({ to, from, body: 'Your code is 1234' });
    expect(await run('get_message', { message_sid })).to.include({ to, from, status: 'queued' });
    const reminder = { to, body: 'Tomorrow at ten', send_at: '2030-12-01T08:00:00Z' };
    const planned = await run('schedule_message', { ...reminder, messaging_service_sid: MESSAGING_SERVICE });
    const path = `/Messages/${planned.sid}.json`;
    expect(await stored(path)).to.include({ status: 'scheduled', from, messaging_service_sid: MESSAGING_SERVICE });
    await run('cancel_message', { message_sid: planned.sid });
    expect(await stored(path)).to.include({ status: 'canceled', body: 'Tomorrow at ten' });
    expect(sids(await run('list_messages', { to }))).to.deep.equal([planned.sid, message_sid]);

    const twiml = '<Response><Say>Your parcel is here.</Say></Response>';
    const { sid: call_sid } = await run('make_call', { to, from, twiml });
    expect(await stored(`/Calls/${call_sid}.json`)).to.include({ to, from, status: 'ringing' });
    expect(sids(await run('list_calls', { to }))).to.deep.equal([call_sid]);
    await run('end_call', { call_sid });
    expect(await stored(`/Calls/${call_sid}.json`)).to.include({ status: 'completed' });
    expect(await run('get_call', { call_sid })).to.include({ status: 'completed', to });
    expectAllRun('twilio', ran);
  });
});

const ids = (list: { id: string }[]) => list.map(({ id }) => id);
