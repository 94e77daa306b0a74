import { expect } from 'chai';
import { expectAllRun } from '../support/emulated-tools.ts';
import { startEmulatedVendor } from '../support/emulators.ts';
import { toolRunner } from '../support/execute.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import type { Upstream } from '../support/upstream.ts';

const TOKEN = 'xoxb-1-tokenOfTheBot';
const KEY = 'sk_test_keyOfAcme0001';

const HTTP_ADDRESS = 'The emulator returns an http address for the bytes, to which nothing is uploaded.';
const EXCUSES = {
  slack: {
    schedule_message: 'Its time must be in the future of the emulator, whose clock no test sets.',
    upload_file: HTTP_ADDRESS,
  },
  gmail: { get_attachment: 'The emulator has no request that creates a message with an attachment.' },
  google_drive: {
    download_file: 'The emulator has no bytes for the documents that it creates.',
    upload_file: HTTP_ADDRESS,
  },
  stripe: {
    get_payment_intent: 'The emulator has no request that creates a payment without a page.',
    search_customers: 'The emulator takes `search` in the path for the id of a customer.',
  },
};

describe('tools that the emulator of their vendor knows', () => {
  let slack: Upstream;
  let google: Upstream;
  let stripe: Upstream;
  let server: TestServer;
  /** The tools that ran in this file. */
  const ran = new Set<string>();

  before(async () => {
    const accepts = ({ headers }: { headers: Record<string, string | undefined> }) =>
      headers['authorization'] === `Bearer ${TOKEN}`;
    slack = await startEmulatedVendor('slack', {
      seed: {
        users: [{ name: 'bot' }, { name: 'ada', email: 'ada@example.com' }],
        channels: [{ name: 'general' }],
      },
      tokens: { [TOKEN]: { login: 'bot', scopes: ['chat:write'] } },
      accepts,
    });
    google = await startEmulatedVendor('google', {
      seed: { users: [{ email: 'bot@example.com', name: 'Bot' }] },
      tokens: { [TOKEN]: { login: 'bot@example.com', scopes: [] } },
      accepts,
    });
    stripe = await startEmulatedVendor('stripe', {
      accepts: ({ headers }) => headers['authorization'] === `Bearer ${KEY}`,
    });
    const overrides = [
      slack.endpointOverride('https://slack.com'),
      google.endpointOverride('https://gmail.googleapis.com'),
      google.endpointOverride('https://www.googleapis.com'),
      stripe.endpointOverride('https://api.stripe.com'),
    ];
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides.join(',') } });
  });
  after(async () => {
    await server.stop();
    for (const vendor of [slack, google, stripe]) await vendor.stop();
  });

  const runner = (
    connector: string,
    authorization_details: Record<string, unknown> = { oauth_token: { access_token: TOKEN } },
  ) => toolRunner(server, connector, { authorization_details }, ran);

  it('work in Slack, from a new channel to its archive', async () => {
    ran.clear();
    const run = await runner('slack');
    const ada = (await run('find_user_by_email', { email: 'ada@example.com' })).id;
    expect((await run('list_users')).map(({ id }: { id: string }) => id)).to.include(ada);
    expect((await run('get_user', { user: ada })).id).to.equal(ada);

    const channel = (await run('create_channel', { name: 'launch-2027' })).id;
    await run('join_channel', { channel });
    await run('invite_to_channel', { channel, users: [ada] });
    expect(await run('list_channel_members', { channel })).to.include(ada);
    await run('set_topic', { channel, topic: 'Release on Friday' });
    expect((await run('get_channel', { channel })).topic.value).to.equal('Release on Friday');
    expect((await run('list_channels')).map(({ id }: { id: string }) => id)).to.include(channel);

    const { ts } = await run('send_message', { channel, text: 'The release is out.' });
    await run('send_message', { channel, text: 'Well done.', thread_ts: ts });
    await run('update_message', { channel, ts, text: 'The release is out: 1.4.2' });
    const read = await run('list_messages', { channel });
    expect(read.map(({ text }: { text: string }) => text)).to.include('The release is out: 1.4.2');
    const replies = await run('list_thread_replies', { channel, ts });
    expect(replies.map(({ text }: { text: string }) => text)).to.include('Well done.');
    await run('add_reaction', { channel, timestamp: ts, name: 'eyes' });
    await run('remove_reaction', { channel, timestamp: ts, name: 'eyes' });
    expect(JSON.stringify(await run('get_permalink', { channel, message_ts: ts }))).to.include(channel);
    await run('delete_message', { channel, ts });
    const left = await run('list_messages', { channel });
    expect(left.map((message: { ts: string }) => message.ts)).to.not.include(ts);

    await run('open_direct_message', { users: [ada] });
    await run('list_files', { channel });
    await run('archive_channel', { channel });
    expectAllRun('slack', ran, EXCUSES.slack);
  });

  it('work in Slack for a person, from a message to a status', async () => {
    ran.clear();
    const run = await runner('slack_user');
    const bot = await toolRunner(server, 'slack', { authorization_details: { oauth_token: { access_token: TOKEN } } });
    const channel = (await bot('create_channel', { name: 'reading-2027' })).id;

    const { ts } = await run('send_message', { channel, text: 'I read this.' });
    const read = await run('list_messages', { channel });
    expect(read.map(({ text }: { text: string }) => text)).to.include('I read this.');
    await run('mark_read', { channel, ts });
    await run('set_status', { status_text: 'Away', status_emoji: ':palm_tree:' });
    expect((await run('get_profile')).status_text).to.equal('Away');
    expectAllRun('slack_user', ran);
  });

  it('work in Gmail, from a draft to the trash', async () => {
    ran.clear();
    const run = await runner('gmail');
    const mail = { to: ['bot@example.com'], subject: 'Offer', body: 'Dear Bot, here is the offer.' };
    const draft = (await run('create_draft', mail)).id;
    await run('update_draft', { draft_id: draft, ...mail, subject: 'New offer' });
    expect(JSON.stringify(await run('list_drafts'))).to.include(draft);
    await run('send_draft', { draft_id: draft });
    const other = (await run('create_draft', mail)).id;
    await run('delete_draft', { draft_id: other });
    const { id: message_id, threadId: thread_id } = await run('send_message', mail);

    expect(JSON.stringify(await run('search_messages', { q: 'subject:offer' }))).to.include(message_id);
    expect(JSON.stringify(await run('search_threads', { q: 'subject:offer' }))).to.include(thread_id);
    expect(JSON.stringify(await run('get_message', { message_id }))).to.include('Offer');
    expect(JSON.stringify(await run('get_message_body', { message_id }))).to.include('here is the offer');
    await run('get_thread', { thread_id });
    const { id: reply } = await run('reply_to_thread', { thread_id, in_reply_to: '<1@example.com>', ...mail });
    expect(JSON.stringify(await run('get_thread', { thread_id }))).to.include(reply);

    const label_id = (await run('create_label', { name: 'Clients' })).id;
    await run('update_label', { label_id, name: 'Old clients' });
    expect(JSON.stringify(await run('list_labels'))).to.include('Old clients');
    await run('change_message_labels', { message_id, add_label_ids: [label_id] });
    await run('change_thread_labels', { thread_id, remove_label_ids: [label_id] });
    const message_ids = [message_id, reply];
    const marked = async () => {
      const { messages = [] } = await run('search_messages', { label_ids: [label_id] });
      return messages.map(({ id }: { id: string }) => id);
    };
    expect(await marked()).to.deep.equal([]);
    await run('change_labels_of_messages', { message_ids, add_label_ids: [label_id], remove_label_ids: ['UNREAD'] });
    expect(await marked()).to.have.members(message_ids);
    for (const id of message_ids)
      expect((await run('get_message', { message_id: id })).labelIds).to.not.include('UNREAD');
    await run('change_labels_of_messages', { message_ids, remove_label_ids: [label_id] });
    expect(await marked()).to.deep.equal([]);
    await run('delete_label', { label_id });
    expect(JSON.stringify(await run('list_labels'))).to.not.include('Old clients');
    await run('trash_message', { message_id });
    const inTrash = async () =>
      JSON.stringify(await run('search_messages', { label_ids: ['TRASH'], include_spam_trash: true }));
    expect(await inTrash()).to.include(message_id);
    await run('restore_message', { message_id });
    expect(await inTrash()).to.not.include(message_id);
    expect(await run('download_message', { message_id })).to.include({ mime_type: 'application/octet-stream' });
    await run('trash_thread', { thread_id });
    expect(await inTrash()).to.include(message_id);
    expectAllRun('gmail', ran, EXCUSES.gmail);
  });

  it('work in Google Calendar, for an event and a whole day', async () => {
    ran.clear();
    const run = await runner('google_calendar');
    const [start_time, end_time] = ['2026-12-01T10:00:00+01:00', '2026-12-01T11:00:00+01:00'];
    const event_id = (await run('create_event', { summary: 'Review', start_time, end_time })).id;
    await run('create_all_day_event', { summary: 'Holiday', start_date: '2026-12-02', end_date: '2026-12-03' });
    const range = { time_min: '2026-12-01T00:00:00Z', time_max: '2026-12-05T00:00:00Z' };
    expect(JSON.stringify(await run('list_events', range)))
      .to.include('Review')
      .and.include('Holiday');
    expect(JSON.stringify(await run('query_free_busy', range))).to.include('2026-12-01');
    expect(JSON.stringify(await run('list_calendars'))).to.include('bot@example.com');
    await run('delete_event', { event_id });
    expect(JSON.stringify(await run('list_events', range))).to.not.include('Review');
    expectAllRun('google_calendar', ran);
  });

  it('work in Google Drive, from a folder to the trash and back', async () => {
    ran.clear();
    const run = await runner('google_drive');
    const folder = (await run('create_folder', { name: 'Offers' })).id;
    const file_id = (
      await run('create_document', { name: 'Minutes', mime_type: 'application/vnd.google-apps.document' })
    ).id;
    await run('move_file', { file_id, from_folder_id: 'root', to_folder_id: folder });
    expect(JSON.stringify(await run('list_folder', { folder_id: folder }))).to.include(file_id);
    await run('update_file', { file_id, name: 'Minutes of May' });
    expect((await run('get_file', { file_id })).name).to.equal('Minutes of May');
    expect(JSON.stringify(await run('search_files', { query: "name contains 'Minutes'" }))).to.include(file_id);
    await run('trash_file', { file_id });
    await run('restore_file', { file_id });
    expectAllRun('google_drive', ran, EXCUSES.google_drive);
  });

  it('work in Stripe, for customers, products and payments', async () => {
    ran.clear();
    const run = await runner('stripe', { static_auth: { details: { api_key: KEY } } });
    const customer_id = (await run('create_customer', { name: 'Ada', email: 'ada@example.com' })).id;
    await run('update_customer', { customer_id, email: 'ada@example.org' });
    expect((await run('get_customer', { customer_id })).email).to.equal('ada@example.org');
    expect(JSON.stringify(await run('list_customers'))).to.include(customer_id);
    const product = (await run('create_product', { name: 'Gold plan' })).id;
    expect(JSON.stringify(await run('list_products'))).to.include(product);
    const price = (await run('create_price', { product, unit_amount: 2000, currency: 'eur' })).id;
    expect(JSON.stringify(await run('list_prices'))).to.include(price);
    const success_url = 'https://shop.example/thanks';
    await run('create_checkout_session', { mode: 'payment', line_items: [{ price, quantity: 1 }], success_url });
    await run('list_checkout_sessions');
    await run('list_payment_intents');
    expectAllRun('stripe', ran, EXCUSES.stripe);
  });
});
