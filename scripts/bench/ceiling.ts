import { createHmac, generateKeyPairSync, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { callOut } from './ceiling-call.ts';
import { signToken } from './ceiling-crypto.ts';
import { openCeilingDatabase, type Row } from './ceiling-database.ts';

/**
 * The minimal server that Valetkey is compared with. It handles the same requests with node:http, prepared
 * statements, the cipher and JSON, and without framework, token check, validation, log, metrics and envelope
 * encryption. It makes the same data durable.
 */
const db = openCeilingDatabase(process.env['CEILING_DATABASE'] as string);
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ACCOUNTS = '/api/v1/connected_accounts';
const UPSTREAM_PORT = Number(process.env['CEILING_UPSTREAM_PORT']);
const SIZE = 20;

const time = (ms: number) => new Date(ms).toISOString();

function summary(row: Row) {
  return {
    id: row.id,
    connection_id: row.connection_id,
    connector: row.connector,
    provider: row.provider,
    organization_id: row.organization_id,
    user_id: row.user_id,
    identifier: row.identifier,
    authorization_type: row.authorization_type,
    status: row.status,
    status_reason: row.status_reason ?? '',
    token_expires_at: row.token_expires_at === null ? null : time(row.token_expires_at),
    last_used_at: row.last_used_at === null ? null : time(row.last_used_at),
    created_at: time(row.created_at),
    updated_at: time(row.updated_at),
  };
}

function account(row: Row, details: unknown) {
  return {
    connected_account: { ...summary(row), api_config: JSON.parse(row.api_config), authorization_details: details },
  };
}

function page({ rows, total }: { rows: Row[]; total: number }) {
  const shown = rows.slice(0, SIZE);
  const next = rows.length > SIZE ? db.seal(`after ${shown.at(-1)?.id}`).toString('base64url') : '';
  return { connected_accounts: shown.map(summary), next_page_token: next, prev_page_token: '', total_size: total };
}

/** A simple group commit: the writes of one event-loop turn share a transaction. Responses follow its commit. */
let waiting: { write: () => unknown; done: (result: never) => void }[] = [];

function commitTogether<T>(write: () => T, done: (result: T) => void): void {
  if (waiting.push({ write, done }) > 1) return;
  setImmediate(() => {
    const group = waiting;
    waiting = [];
    let results: unknown[] = [];
    db.transaction(() => {
      results = group.map((entry) => entry.write());
      db.index();
    });
    for (const [place, entry] of group.entries()) entry.done(results[place] as never);
  });
}

function create(text: string) {
  const { identifier, organization_id, user_id, connected_account } = JSON.parse(text);
  const id = `ca_${randomUUID().replaceAll('-', '')}`;
  const details = connected_account.authorization_details;
  db.insert({
    id,
    identifier,
    organization: organization_id,
    user: user_id,
    config: JSON.stringify(connected_account.api_config),
    details: '{}',
    sealed: db.seal(JSON.stringify(details)),
    at: Date.now(),
  });
  db.audit('connected_account.created', id);
  return account(db.get(id) as Row, details);
}

function createAlone(text: string) {
  let created: unknown;
  db.transaction(() => {
    created = create(text);
    db.index();
  });
  return created;
}

function token(text: string) {
  const form = new URLSearchParams(text);
  const { digest } = db.secret(form.get('client_id') ?? '') as { digest: Buffer };
  const given = createHmac('sha256', 'key')
    .update(form.get('client_secret') ?? '')
    .digest();
  // The result is ignored, because this process does not know the key of the stored digest. The comparison only has to
  // take the same time.
  timingSafeEqual(given, digest);
  const at = Math.floor(Date.now() / 1000);
  const claims = {
    iss: 'ceiling',
    aud: 'ceiling',
    sub: form.get('client_id'),
    iat: at,
    exp: at + 3600,
    jti: randomUUID(),
  };
  return { access_token: signToken(privateKey, claims), token_type: 'Bearer', expires_in: 3600 };
}

/** A tool call. The records of its start and its end are both durable before the response. */
async function execute(text: string): Promise<unknown> {
  const { tool_name, tool_input, connected_account_id } = JSON.parse(text);
  const row = db.get(connected_account_id) as Row;
  const { static_auth } = db.open(row);
  const id = `exec_${randomUUID().replaceAll('-', '')}`;
  const started = new Promise((done) => commitTogether(() => db.startExecution(id, row, tool_name), done));
  const { owner, repo, issue_number } = tool_input;
  const path = `/repos/${owner}/${repo}/issues/${issue_number}`;
  const [data] = await Promise.all([callOut(UPSTREAM_PORT, path, static_auth.details.token), started]);
  await new Promise((done) => commitTogether(() => db.endExecution(id), done));
  return { data, execution_id: id };
}

function serve(req: IncomingMessage, res: ServerResponse): void {
  const [path = '', query = ''] = (req.url ?? '').split('?');
  const value = query.slice(query.indexOf('=') + 1);
  const answer = (status: number, body: unknown) => write(res, status, body);
  if (path === '/ready') answer(200, {});
  else if (path === `${ACCOUNTS}/details`) {
    const row = db.get(value) as Row;
    answer(200, account(row, JSON.parse(row.public_details ?? '{}')));
  } else if (path.endsWith('/auth')) {
    const row = db.get(value) as Row;
    const body = account(row, db.open(row));
    if (path.startsWith('/without-audit')) answer(200, body);
    else {
      const audit = () => db.audit('connected_account.credentials_read', row.id);
      commitTogether(audit, () => answer(200, body));
    }
  } else if (path === `${ACCOUNTS}:search`) answer(200, page(db.search(`"${value}"`, SIZE + 1)));
  else if (path === ACCOUNTS && req.method === 'GET') answer(200, page(db.list(SIZE + 1)));
  else if (path === ACCOUNTS) readText(req, (text) => answer(201, createAlone(text)));
  else if (path === `/grouped${ACCOUNTS}`) {
    readText(req, (text) =>
      commitTogether(
        () => create(text),
        (created) => answer(201, created),
      ),
    );
  } else if (path === '/api/v1/execute_tool') readText(req, async (text) => answer(200, await execute(text)));
  else if (path === '/oauth/token') readText(req, (text) => answer(200, token(text)));
  else answer(404, {});
}

function readText(req: IncomingMessage, done: (text: string) => void): void {
  let text = '';
  req.setEncoding('utf8');
  req.on('data', (chunk) => {
    text += chunk;
  });
  req.on('end', () => done(text));
}

function write(res: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  res.end(text);
}

createServer(serve).listen(Number(process.env['PORT']), '127.0.0.1');
