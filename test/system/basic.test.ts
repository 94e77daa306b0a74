import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { execute, finishedExecution } from '../support/execute.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { type Radicale, startRadicale } from './support/radicale.ts';

const CALENDARS = 'https://calendars.example';
/** Both contain characters outside Latin-1, and the password contains a colon, which ends the user name in Basic. */
const USER = 'märta-€';
const PASSWORD = 'pässwört: with 🔑 and "more"';
const PAIR = Buffer.from(`${USER}:${PASSWORD}`).toString('base64');
const HOME = `/${encodeURIComponent(USER)}`;
const EVENT = ['BEGIN:VEVENT', 'UID:planning', 'DTSTAMP:20261120T000000Z', 'DTSTART:20261121T100000Z', 'END:VEVENT'];
const CALENDAR = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//tests//EN', ...EVENT, 'END:VCALENDAR', ''].join('\r\n');
const BASIC = {
  type: 'BASIC',
  fields: [
    { field_name: 'username', label: 'User name', input_type: 'text', required: true },
    { field_name: 'password', label: 'Password', input_type: 'password', required: true },
  ],
};

describe('user name and password, at the calendar server of Debian', () => {
  let radicale: Radicale;
  let server: TestServer;

  before(async () => {
    radicale = await startRadicale({ [USER]: PASSWORD });
    server = await startTestServer({
      env: {
        VALETKEY_EGRESS_ALLOW: `127.0.0.1:${radicale.port}`,
        VALETKEY_ENDPOINT_OVERRIDES: `${CALENDARS}=${radicale.origin}`,
      },
    });
    await server.call('PUT', '/api/v1/environment', { body: { keep_execution_contents: true } });
  });
  after(async () => {
    await server?.stop();
    await radicale?.stop();
  });

  const withDetails = (details: object) => ({ authorization_details: { static_auth: { details } } });
  const ofHttpConnector = (details: object) =>
    createAccount(server, {
      connector: 'http',
      connectedAccount: { api_config: { base_url: radicale.origin }, ...withDetails(details) },
    });
  const ofCustomProvider = async (details: object) => {
    const fields = { proxy_enabled: true, proxy_url: CALENDARS, auth_patterns: [BASIC] };
    const { identifier } = await createProvider(server, fields);
    return createAccount(server, { connector: identifier, connectedAccount: withDetails(details) });
  };

  for (const [way, accountWith] of [
    ['with the generic HTTP connector', ofHttpConnector],
    ['with a custom provider behind https', ofCustomProvider],
  ] as const) {
    describe(way, () => {
      const refused: [string, object][] = [
        ['a wrong password', { username: USER, password: `${PASSWORD}.` }],
        ['the part of the password before its colon', { username: USER, password: PASSWORD.split(':')[0] }],
        ['the name of somebody else', { username: 'marta', password: PASSWORD }],
      ];
      for (const [what, details] of refused) {
        it(`is refused there with ${what} (negative control)`, async () => {
          const { id } = await accountWith(details);
          const { body } = await execute(server, id, 'http_get', { path: `${HOME}/work/` });
          expect(body.tool_error).to.include({ kind: 'upstream_auth', upstream_status: 401 });
        });
      }

      it('writes, reads and deletes as the user', async () => {
        const account = await accountWith({ username: USER, password: PASSWORD });
        const connector = account['connector'] as string;
        const name = `${connector.replaceAll('-', '_')}_store_calendar`;
        await storeTools(server, [storeCalendar(connector, name)]);
        const stored = await execute(server, account.id, name, { user: USER, calendar: CALENDAR });
        expect(stored.status, stored.text).to.equal(200);
        const read = await execute(server, account.id, 'http_get', { path: `${HOME}/work/` });
        expect(read.body.data, read.text).to.contain('UID:planning');
        expect((await execute(server, account.id, 'http_delete', { path: `${HOME}/work/` })).status).to.equal(200);
        const gone = await execute(server, account.id, 'http_get', { path: `${HOME}/work/` });
        expect(gone.body.tool_error).to.include({ kind: 'upstream_not_found', upstream_status: 404 });
      });

      it('are previewed as one pair in the header Authorization, masked', async () => {
        const { id } = await accountWith({ username: USER, password: PASSWORD });
        const { body } = await execute(server, id, 'http_get', { path: '/' }, { body: { dry_run: true } });
        expect(body.dry_run_request.headers.authorization).to.equal('Basic [secret]');
      });

      it('keeps the password out of errors, records, the audit log, lists, the log and the database', async () => {
        const { id } = await accountWith({ username: USER, password: PASSWORD });
        const failed = await execute(server, id, 'http_get', { path: '/nobody/secret/' });
        expect(failed.body.tool_error).to.include({ kind: 'upstream_forbidden', upstream_status: 403 });
        const record = await finishedExecution(server, failed.body.execution_id);
        const seen = JSON.stringify([
          failed.text,
          record,
          (await server.call('GET', `/api/v1/executions/${record.id}`)).body,
          (await server.call('GET', '/api/v1/connected_accounts')).body,
          (await auditOf(server, id)).map((row) => ({ ...row })),
          server.logs,
        ]);
        expect(seen).to.contain(id);
        const { databaseFile } = server.parts.config;
        const stored = Buffer.concat([readFileSync(databaseFile), readFileSync(`${databaseFile}-wal`)]);
        expect(stored.includes(id)).to.equal(true);
        for (const secret of [PASSWORD, JSON.stringify(PASSWORD).slice(1, -1), PAIR]) {
          expect(seen).not.to.contain(secret);
          expect(seen).not.to.contain(JSON.stringify(secret).slice(1, -1));
          expect(stored.includes(secret)).to.equal(false);
        }
      });
    });
  }

  it('are refused with a colon in the user name, by a message that names the field (RFC 7617)', async () => {
    const before = (await server.call('GET', '/api/v1/connected_accounts')).body.total_size;
    const answer = await server.call('POST', '/api/v1/connected_accounts', {
      body: {
        connector: 'http',
        identifier: 'colon',
        user_id: 'colon',
        connected_account: {
          api_config: { base_url: radicale.origin },
          ...withDetails({ username: 'mär:ta', password: PASSWORD }),
        },
      },
    });
    expect(answer.status).to.equal(400);
    expect(answer.body.errors).to.deep.equal([
      {
        field: 'connected_account.authorization_details.static_auth.details.username',
        message: 'must not contain a colon',
      },
    ]);
    expect(answer.text).not.to.contain('sswört');
    expect((await server.call('GET', '/api/v1/connected_accounts')).body.total_size).to.equal(before);
  });
});

/** Stores a whole calendar in one request; Radicale creates the collection for it. */
function storeCalendar(connector: string, name: string) {
  const text = (description: string) => ({ type: 'string', description });
  return ownTool(connector, name, {
    title: 'Store calendar',
    description: 'Stores a whole calendar of a user, in place of the one that was there.',
    hints: { read_only: false, destructive: true, idempotent: true, open_world: false },
    input_schema: {
      type: 'object',
      additionalProperties: false,
      required: ['user', 'calendar'],
      properties: { user: text('Whose calendar it is.'), calendar: text('The calendar as iCalendar text.') },
    },
    output_schema: {},
    examples: [],
    request: {
      method: 'PUT',
      path: '/{user}/work/',
      body: { format: 'raw', media_type: 'text/calendar', value: { $input: 'calendar' } },
    },
  });
}
