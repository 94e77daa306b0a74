import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import Database from 'better-sqlite3';
import { chain, decrypt, encrypt } from './ceiling-crypto.ts';

export interface Row {
  seq: number;
  id: string;
  connection_id: string;
  connector: string;
  provider: string;
  organization_id: string;
  user_id: string;
  identifier: string;
  authorization_type: string;
  status: string;
  status_reason: string | null;
  token_expires_at: number | null;
  last_used_at: number | null;
  created_at: number;
  updated_at: number;
  api_config: string;
  public_details: string | null;
  credentials_sealed: Buffer;
}

const SUMMARY = `seq, id, connection_id, connector, provider, organization_id, user_id, identifier, authorization_type, status,
  status_reason, token_expires_at, last_used_at, created_at, updated_at`;

/**
 * Opens a copy of the server's database for the minimal server (`ceiling.ts`). The copy has the same tables, indexes
 * and triggers, and the credentials are encrypted under one key. Only the statements that the requests need are
 * prepared.
 */
export function openCeilingDatabase(path: string) {
  const db = new Database(path);
  for (const text of ['journal_mode = wal', 'synchronous = full', 'foreign_keys = on', 'secure_delete = on'])
    db.pragma(text);
  const key = createSecretKey(randomBytes(32));
  resealAll(db, key);

  const environment = db.prepare('select id, ordinal from environments').get() as { id: string; ordinal: number };
  const [low, high] = [environment.ordinal * 2 ** 40, (environment.ordinal + 1) * 2 ** 40];
  const get = db.prepare(`select ${SUMMARY}, api_config, public_details, credentials_sealed from accounts
    where id = ? and environment_id = ?`);
  const list = db.prepare(`select ${SUMMARY} from accounts where seq > ? and seq < ? order by seq desc limit ?`);
  const total = db.prepare("select total from counters where environment_id = ? and name = 'accounts'").pluck();
  const match = 'accounts_search match ? and accounts_search.rowid > ? and accounts_search.rowid < ?';
  const columns = SUMMARY.split(',').map((name) => `accounts.${name.trim()}`);
  const search =
    db.prepare(`select ${columns} from accounts_search join accounts on accounts.seq = accounts_search.rowid
    where ${match} order by accounts_search.rowid desc limit ?`);
  const matches = db.prepare(`select count(*) from accounts_search where ${match}`).pluck();
  const insert =
    db.prepare(`insert into accounts (seq, id, environment_id, connection_id, connector, provider, organization_id,
    user_id, identifier, authorization_type, status, api_config, public_details, origins, data_key, kek_id,
    credentials_sealed, credential_generation, search_text, created_at, updated_at)
    select (select last_seq + 1 from counters where environment_id = $environment and name = 'accounts'), $id, environment_id,
      connection_id, connector, provider, $organization, $user, $identifier, authorization_type, 'ACTIVE', $config, $details,
      origins, $dataKey, kek_id, $sealed, 1, $identifier || char(10) || provider || char(10) || connector, $at, $at
    from accounts where id = $model`);
  const addKey = db.prepare('insert into data_keys (used, wrapped) values (1, randomblob(128)) returning slot').pluck();
  const index = db.prepare('delete from accounts_unindexed');
  const model = db.prepare('select id from accounts limit 1').pluck().get() as string;
  const append =
    db.prepare(`insert into audit_log (seq, id, environment_id, at, actor, action, subject_id, request_id, details,
    prev_hash, hash) values (?, ?, ?, ?, 'bench', ?, ?, ?, '{}', ?, ?)`);
  const moveHead = db.prepare(`insert into audit_heads (environment_id, seq, hash) values (?, ?, ?)
    on conflict do update set seq = excluded.seq, hash = excluded.hash`);
  const secret = db.prepare(`select digest from api_client_secrets join api_clients on api_clients.id = client_id
    where client_id = ? and enabled = 1`);
  const start =
    db.prepare(`insert into executions (seq, id, environment_id, account_id, connector, tool_name, api_client_id, instance, status,
    started_at) values ((select last_seq + 1 from counters where environment_id = $environment and name = 'executions'), $id,
    $environment, $account, $connector, $tool, 'bench', 1, 'STARTED', $at)`);
  const end = db.prepare(`update executions set status = 'SUCCEEDED', upstream_status = 200, finished_at = ?
    where id = ? and status = 'STARTED'`);
  let head: { seq: number; hash: Buffer } = { seq: low, hash: Buffer.alloc(32) };
  const known = db.prepare('select seq, hash from audit_heads').get() as typeof head | undefined;
  if (known) head = known;

  return {
    environmentId: environment.id,
    get: (id: string) => get.get(id, environment.id) as Row | undefined,
    open: (row: Row) => JSON.parse(decrypt(key, row.credentials_sealed)),
    seal: (text: string) => encrypt(key, randomBytes(12), text),
    list: (limit: number) => ({
      rows: list.all(low, high, limit) as Row[],
      total: total.get(environment.id) as number,
    }),
    search: (phrase: string, limit: number) => ({
      rows: search.all(phrase, low, high, limit) as Row[],
      total: matches.get(phrase, low, high) as number,
    }),
    insert(values: Record<string, unknown>) {
      insert.run({ ...values, environment: environment.id, model, dataKey: addKey.get() });
    },
    /** Adds the new accounts of the transaction to the search index. */
    index: () => index.run(),
    secret: (clientId: string) => secret.get(clientId),
    /** Appends a row to the chain of the audit log. */
    audit(action: string, subject: string) {
      const seq = head.seq + 1;
      const [id, request, at] = [`aud_${seq}`, `req_${seq}`, Date.now()];
      const hash = chain(head.hash, [seq, id, at, action, subject, request]);
      append.run(seq, id, environment.id, at, action, subject, request, head.hash, hash);
      moveHead.run(environment.id, seq, hash);
      head = { seq, hash };
    },
    startExecution(id: string, account: Row, tool: string) {
      const { connector } = account;
      start.run({ id, environment: environment.id, account: account.id, connector, tool, at: Date.now() });
    },
    endExecution: (id: string) => end.run(Date.now(), id),
    transaction: (work: () => void) => db.transaction(work).immediate(),
  };
}

/** Replaces the credentials by encrypted values of the same size, under a key of this process. */
function resealAll(db: Database.Database, key: KeyObject): void {
  const update = db.prepare('update accounts set credentials_sealed = ? where seq = ?');
  const text = JSON.stringify({ static_auth: { details: { token: `ghp_${'x'.repeat(36)}` } } });
  db.transaction(() => {
    for (const seq of db.prepare('select seq from accounts').pluck().all())
      update.run(encrypt(key, randomBytes(12), text), seq);
  })();
}
