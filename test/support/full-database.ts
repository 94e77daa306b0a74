import Database from 'better-sqlite3';
import { COPIED_TABLES } from '../../db/copy/tables.ts';

type Row = Record<string, unknown>;

const AT = 1_750_000_000_000;
const LATER = AT + 1e9;
const digest = (byte: number) => Buffer.alloc(32, byte);

/**
 * Adds a row to each copied table that has none, so that a test of a copy covers them all. The rows satisfy the
 * constraints of the tables; their sealed values cannot be decrypted.
 */
export function fillEveryTable(file: string): void {
  const db = new Database(file, { fileMustExist: true });
  try {
    const one = (sql: string) => db.prepare(sql).pluck().get() as string;
    const env = one('select id from environments');
    const connection = one('select id from connections');
    const account = one('select id from accounts');
    const kek = one('select kek_id from key_checks');
    const slot = () =>
      Number(
        db.prepare('insert into data_keys (used, wrapped) values (1, ?)').run(Buffer.alloc(128, 5)).lastInsertRowid,
      );
    const low = Number(one('select ordinal << 40 from environments'));
    const sealed = () => ({ data_key: slot(), kek_id: kek });
    const times = { created_at: AT, updated_at: AT };
    const its = { environment_id: env };
    const rows: [string, Row][] = [
      ['custom_providers', { ...its, ...times, id: 'prov_1', identifier: 'mine', definition: '{"a":"\\u0000 ü"}' }],
      ['account_tombstones', { ...its, id: 'ca_gone', seq: low + 1, generation: 3, deleted_at: AT }],
      ...['SUCCEEDED', 'FAILED', 'STARTED'].map((status, place): [string, Row] => [
        'executions',
        { ...its, ...execution(`exec_${place}`), seq: low + 2000 * place + 1, account_id: account, status },
      ]),
      ['idempotency_keys', { ...its, ...idempotencyKey, sealed_reply: Buffer.from([0, 255, 1]), state: 'DONE' }],
      ['audit_archives', { ...its, archived_seq: low, removed_seq: low, removed_hash: Buffer.alloc(32) }],
      ['catalogue_digests', { ...its, digests: '{"github":"abc"}' }],
      [
        'auth_requests',
        { ...its, ...request(account, connection), id: 'areq_1', state: 'OPEN', link_digest: digest(1) },
      ],
      [
        'auth_requests',
        {
          ...its,
          ...request(account, connection),
          ...sealed(),
          id: 'areq_2',
          state: 'PENDING_VERIFICATION',
          link_digest: digest(2),
          pending_sealed: Buffer.from('sealed'),
        },
      ],
      [
        'auth_flows',
        {
          ...its,
          state_digest: digest(3),
          request_id: 'areq_1',
          connection_id: connection,
          browser_digest: digest(4),
          kept_sealed: Buffer.from('kept'),
          created_at: AT,
          expires_at: LATER,
        },
      ],
      ['refresh_leases', { ...its, account_id: account, fencing: 7, state: 'SETTLED', generation: 2, versions: '1 1' }],
      [
        'jobs',
        {
          ...its,
          ...times,
          ...sealed(),
          id: 'job_1',
          kind: 'REVOCATION',
          lane: 'l',
          payload_sealed: Buffer.from('p'),
          state: 'WAITING',
          run_at: LATER,
          give_up_at: LATER,
        },
      ],
      ['periodic_jobs', { name: 'copied_for_tests', next_at: AT }],
      [
        'stored_contents',
        {
          ...its,
          ...sealed(),
          id: 'file_1',
          kind: 'file',
          account_id: account,
          size: 3,
          sealed: Buffer.from('abc'),
          created_at: AT,
          expires_at: LATER,
        },
      ],
      [
        'environment_tools',
        {
          ...its,
          ...times,
          name: 'mine_a',
          connector: 'mine',
          source: 'custom',
          definition: '{"description":" x "}',
          content_hash: 'h',
          revision: 1,
        },
      ],
      ['environment_tool_revisions', { ...its, revision: 1 }],
      ['tool_overlays', { ...its, ...times, tool_name: 'mine_a', settings: '{}', tool_digest: 'd' }],
      ['mcp_configs', { ...its, ...times, id: 'mcp_1', name: 'n', description: 'd', mappings: '[]' }],
      ['event_heads', { ...its, seq: low + 1 }],
      ['events', { ...its, seq: low + 1, id: 'evt_1', type: 't', subject_id: 's', body: '{}', created_at: AT }],
      ['webhook_endpoints', { ...its, ...times, ...endpoint, id: 'we_1' }],
      [
        'webhook_deliveries',
        {
          ...its,
          ...times,
          id: 'wd_1',
          endpoint_id: 'we_1',
          event_id: 'evt_1',
          event_seq: low + 1,
          event_type: 't',
          subject_id: 's',
          state: 'DELIVERED',
          attempts: 1,
        },
      ],
      [
        'oauth_clients',
        {
          ...its,
          id: 'oc_1',
          kind: 'DYNAMIC',
          name: 'n',
          redirect_uris: '[]',
          auth_method: 'none',
          refreshes: 1,
          origin_digest: digest(9),
          created_at: AT,
        },
      ],
      [
        'oauth_logins',
        {
          ...its,
          id: 'ol_1',
          state: 'OPEN',
          token_digest: digest(5),
          browser_digest: digest(6),
          request: '{}',
          created_at: AT,
          expires_at: LATER,
        },
      ],
      [
        'login_providers',
        { ...its, ...times, id: 'lp_1', type: 'OIDC', issuer: 'https://id.example', claims: '{}', oidc: '{}' },
      ],
      ['oauth_grants', { ...its, ...grant, id: 'og_1', server_id: connection }],
      ['operator_sessions', { ...its, ...session, id: 'os_1', state: 'OPEN', operator: 'ada', role: 'OWNER' }],
      ['portal_sessions', { ...its, ...session, id: 'ps_1', state: 'OPEN', identifier: 'ada', api_client_id: 'cli_1' }],
      ['environment_logos', { ...its, media_type: 'image/png', bytes: Buffer.from([0, 1]), updated_at: AT }],
      ['execution_statistics', { ...its, ...statistic, total: 2 }],
      ['refresh_statistics', { ...its, hour: 1, connector: 'github', outcome: 'SUCCEEDED', error_kind: '', total: 2 }],
      ['instances', { id: 'inst_crashed', version: '0.0.0', started_at: AT, beat_at: AT }],
    ];
    const isEmpty = (table: string) => Number(one(`select count(*) from ${table}`)) === 0;
    const filled = new Set(COPIED_TABLES.filter((table) => !isEmpty(table)));
    for (const [table, row] of rows) if (!filled.has(table)) insert(db, table, row);
    const empty = COPIED_TABLES.filter(isEmpty);
    if (empty.length > 0) throw new Error(`no row in ${empty.join(', ')}: add one here`);
  } finally {
    db.close();
  }
}

function insert(db: Database.Database, table: string, row: Row): void {
  const names = Object.keys(row);
  const places = names.map((name) => `@${name}`).join(', ');
  db.prepare(`insert into ${table} (${names.join(', ')}) values (${places})`).run(row);
}

const execution = (id: string): Row => ({
  id,
  connector: 'github',
  tool_name: 'github_user_get',
  api_client_id: 'cli_1',
  instance: 99,
  started_at: AT,
});

const idempotencyKey: Row = {
  client_id: 'cli_1',
  route: 'r',
  key_digest: digest(7),
  request_digest: digest(8),
  status: 200,
  instance: 1,
  created_at: AT,
  expires_at: LATER,
};

const request = (account: string, connection: string): Row => ({
  account_id: account,
  connection_id: connection,
  link_expires_at: LATER,
  identifier: 'ada',
  created_at: AT,
  expires_at: LATER,
});

const endpoint: Row = {
  url: 'https://app.example/hooks',
  description: '',
  event_types: '[]',
  ordered: 0,
  algorithm: 'ED25519',
  secrets: '[]',
  enabled: 1,
};

const grant: Row = {
  client_id: 'oc_1',
  client_name: 'n',
  client_kind: 'DYNAMIC',
  redirect_host: 'localhost',
  identifier: 'ada',
  scopes: '[]',
  api_client_id: 'cli_1',
  generation: 1,
  retired_at: '[]',
  created_at: AT,
  used_at: AT,
  expires_at: LATER,
};

const session: Row = { token_digest: digest(10), created_at: AT, expires_at: LATER };

const statistic: Row = {
  hour: 1,
  connector: 'github',
  tool_name: 'github_user_get',
  status: 'SUCCEEDED',
  error_kind: '',
  up_to_ms: 5,
};
