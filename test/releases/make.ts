import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { programVersion } from '../../core/program-version.ts';
import { createAuditArchive } from '../../core/retention/audit-archive.ts';
import { createTypedAccount, TYPES } from '../support/all-types.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { testClock } from '../support/clock.ts';
import { execute } from '../support/execute.ts';
import { createKeyedAccount, KEYED_ORIGIN } from '../support/keyed-api.ts';
import { browserFor, connectUser, consentConnector, makeLink, startLinkServer, submitLink } from '../support/links.ts';
import { sessionToken } from '../support/mcp.ts';
import { toolBody } from '../support/own-tools.ts';
import { createConnection } from '../support/providers.ts';
import { leave, oauthConnector, tokenAccount } from '../support/revocations.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { firstEnvironment } from '../support/tokens.ts';
import { json, startUpstream } from '../support/upstream.ts';
import { FIXTURE_KEYS, RELEASES, type ReleasedFacts, readAccounts, writeReleased } from './released-data.ts';

/**
 * Creates the database that every later version must open: a real server of this version stores rows in every table.
 * This is a step of a release: `node test/releases/make.ts`.
 */
const STORED_AT = Date.UTC(2026, 10, 22, 12);
const DAY = 24 * 3600 * 1000;
/** Rows of this table exist only until the end of the transaction that writes them. */
const ALWAYS_EMPTY = new Set(['accounts_unindexed']);
const PDF = { 'content-type': 'application/pdf', 'content-disposition': 'attachment; filename="report.pdf"' };

const clock = testClock(STORED_AT - 100 * DAY);
const folder = tempDir();
const acme = await startUpstream(({ target }, res) =>
  target.endsWith('/report') ? res.writeHead(200, PDF).end('%PDF') : json(res, 200, { ok: true }),
);
const as = await startAuthorizationServer();
const start = () =>
  startLinkServer({
    dataDir: folder.path,
    env: {
      VALETKEY_KEYS: FIXTURE_KEYS,
      VALETKEY_ENDPOINT_OVERRIDES: [as.override, acme.endpointOverride(KEYED_ORIGIN)].join(','),
    },
    overrides: { now: clock.now },
  });

async function expectStatus(answer: Promise<{ status: number; text: string }>, status: number): Promise<void> {
  const { status: actual, text } = await answer;
  if (actual !== status) throw new Error(`${actual} instead of ${status}: ${text}`);
}

/** Creates accounts of every type, and thereby records of the audit log to archive. */
async function fillEarly(server: TestServer): Promise<void> {
  const settings = { keep_execution_contents: true, audit_retention_days: 30 };
  await expectStatus(server.call('PUT', '/api/v1/environment', { body: settings }), 200);
  for (const type of TYPES) await expectStatus(createTypedAccount(server, type), 201);
}

/** Creates something of every other kind that the API stores. */
async function fill(server: TestServer): Promise<void> {
  const { connector } = await consentConnector(server, as);
  await connectUser(server, browserFor(as), connector, 'alice');
  await submitLink(browserFor(as), await makeLink(server, { connector }));
  await makeLink(server, { connector });
  const { id, provider } = await createKeyedAccount(server);
  const prefix = provider.identifier.replaceAll('-', '_');
  const body = toolBody(provider.identifier, `${prefix}_read`);
  await expectStatus(server.call('POST', '/api/v1/tools', { body }), 201);
  await expectStatus(
    execute(server, id, 'http_get', { path: '/things' }, { headers: { 'idempotency-key': 'kept' } }),
    200,
  );
  await expectStatus(execute(server, id, 'http_get', { path: '/report' }), 200);
  const connection = await createConnection(server, { connector: 'github' });
  const config = { name: 'Support', mappings: [{ connection_id: connection.id }] };
  const made = await server.call('POST', '/api/v1/mcp/configs', { body: config });
  await sessionToken(server, made.body.config.id);
  const oauth = await oauthConnector(server);
  await leave(server, (await tokenAccount(server, oauth.connector)).id);
  await leave(server, (await tokenAccount(server, oauth.connector)).id, 'disconnect');
}

/** Inserts rows that otherwise exist only for a moment, or only after days. */
async function fillTheRest(server: TestServer): Promise<void> {
  const { store } = server.parts;
  const environment = await firstEnvironment(server);
  const { id } = environment;
  await createAuditArchive({ ...server.parts, directory: join(folder.path, 'archive') })(environment, () => false);
  const [account] = (await store.read.accounts.list(id, {}, { size: 1 })).rows;
  const [instance] = await store.read.instances.list();
  if (!account || !instance) throw new Error('no account or no instance is stored');
  await store.write((tx) =>
    tx.refreshLeases.take(id, account.id, {
      owner: instance.id,
      generation: 1,
      expiresAt: clock.now() + 60_000,
      after: 0,
    }),
  );
}

/** Copies the database of the running server into one file, and counts its rows; fails for an empty table. */
function copyDatabase(source: string, copy: string): ReleasedFacts['rows'] {
  const running = new Database(source, { readonly: true });
  running.prepare('vacuum into ?').run(copy);
  running.close();
  const db = new Database(copy, { readonly: true });
  const tables = db.prepare("select name from sqlite_schema where type = 'table'").pluck().all() as string[];
  const own = tables.filter((name) => !/^(sqlite_|accounts_search_)/.test(name) && !ALWAYS_EMPTY.has(name));
  const count = (table: string) => db.prepare(`select count(*) from "${table}"`).pluck().get() as number;
  const rows = Object.fromEntries(own.sort().map((table) => [table, count(table)]));
  db.close();
  const empty = own.filter((table) => rows[table] === 0);
  if (empty.length > 0) throw new Error(`tables without rows: ${empty.join(', ')}`);
  return rows;
}

const server = await start();
await fillEarly(server);
clock.advance(100 * DAY);
await fill(server);
await addSecondEnvironment(server);
await fillTheRest(server);
const accounts = await readAccounts(server);
const copy = join(folder.path, 'copy.db');
const rows = copyDatabase(server.parts.config.databaseFile, copy);
mkdirSync(join(RELEASES, programVersion()), { recursive: true });
writeReleased(programVersion(), readFileSync(copy), { storedAt: clock.now(), accounts, rows });
await server.stop();
await acme.stop();
await as.stop();
folder.remove();
console.log(`${accounts.length} accounts, ${Object.keys(rows).length} tables`);
